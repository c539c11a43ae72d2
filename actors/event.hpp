// What the actors report while they run, for logs and for tests.
#pragma once

#include "substrate/time.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace alkstore {

/// One thing that happened. Never holds a payload or a secret.
struct event {
  enum class level : uint8_t { info, warning, error };

  level severity = level::info;
  std::string what; ///< "fired", "delivered", "leading", …: docs/operations.md
  std::string name; ///< of the schedule, queue, outbox or actor
  int64_t job = 0;  ///< 0: about no job
  int attempt = 0;
  int max_attempts = 0;
  millis took{}; ///< the handler's time, or a boundary's lateness
  std::string text;
};

/// Takes events, from several threads at once. Must not block for long.
using event_sink = std::function<void(const event&)>;

} // namespace alkstore
