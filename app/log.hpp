// The node's log: one line an event.
#pragma once

#include "actors/event.hpp"

#include <string>

namespace alkstore {

/// An event as a line, without its end: time (UTC), level, what, name, then
/// what is known of job, attempt and duration, and the text. Control characters
/// are shown as `\xNN`.
std::string log_line(const event& x, timestamp when);

/// Writes the line to standard output, whole, from any thread.
void log_to_stdout(const event& x);

} // namespace alkstore
