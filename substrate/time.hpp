// Time as the store keeps it: UTC milliseconds since the Unix epoch.
#pragma once

#include <chrono>

namespace alkstore {

using millis = std::chrono::milliseconds;

/// A point on the wall clock.
using timestamp = std::chrono::sys_time<millis>;

/// A point on a clock that never jumps. Comparable within one process only.
using steady_time = std::chrono::time_point<std::chrono::steady_clock, millis>;

} // namespace alkstore
