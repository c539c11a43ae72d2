// A wall clock that only a test moves.
#pragma once

#include "substrate/clock.hpp"

#include <atomic>

namespace alkstore::testing {

/// The wall clock, which rows and deadlines follow, stands still until it is
/// turned; it begins at 2023-11-14 22:13:20 UTC. The steady clock is the
/// machine's.
class virtual_clock final : public clock {
public:
  timestamp wall_now() const override { return wall_; }
  steady_time steady_now() const override {
    return clock::system().steady_now();
  }

  void set(timestamp wall) { wall_ = wall; }

  /// Moves it on, or back.
  void step(millis by) { wall_ = wall_.load() + by; }

private:
  std::atomic<timestamp> wall_{timestamp{std::chrono::seconds{1'700'000'000}}};
};

} // namespace alkstore::testing
