// What the writer knows of the other connections that write.
#pragma once

#include "substrate/time.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

namespace alkstore {

/// When others committed last, and how long to leave them the write lock, or to
/// wait for it. docs/wake-up.md, docs/batching.md. Not thread-safe.
class neighbours {
public:
  using microseconds = std::chrono::microseconds;

  /// Between two of the writer's batches while others are writing, too
  /// (measured: a neighbour's worst wait falls from 2.9 s to 10 ms).
  static constexpr microseconds pause{500};

  /// One has committed.
  void seen(steady_time now) { seen_ = now; }

  /// One may want the lock again.
  bool at_work(steady_time now) const { return now - seen_ < millis{1000}; }

  /// One commits over and over.
  bool busy(steady_time now) const { return now - seen_ < millis{2}; }

  /// One has begun to write.
  void begun(steady_time now) {
    looking_since_ = now;
    next_look_ = first_look;
  }

  /// When to look again whether its commit is there: ever later, and not at all
  /// after 5 s.
  std::optional<microseconds> next_look(steady_time now) {
    if (now - looking_since_ >= millis{5000})
      return std::nullopt;
    return std::exchange(next_look_,
                         std::min(next_look_ * 2, microseconds{50'000}));
  }

  /// When to try for the lock again: 0.2 to 0.8 ms, so that two who wait do not
  /// meet time and again.
  microseconds until_next_try() {
    return microseconds{std::uniform_int_distribution{200, 800}(random_)};
  }

private:
  static constexpr microseconds first_look{500};

  steady_time seen_{};
  steady_time looking_since_{};
  microseconds next_look_ = first_look;
  std::minstd_rand random_{std::random_device{}()};
};

} // namespace alkstore
