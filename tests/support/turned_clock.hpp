// The machine's clocks, with a wall clock that a test can step.
#pragma once

#include "substrate/clock.hpp"

#include <atomic>

namespace alkstore::test {

/// Time goes on by itself; step() moves the wall clock, the steady one does not
/// notice.
class turned_clock final : public clock {
public:
  timestamp wall_now() const override {
    return clock::system().wall_now() + offset_.load();
  }
  steady_time steady_now() const override {
    return clock::system().steady_now();
  }

  void step(millis by) { offset_ = offset_.load() + by; }

private:
  std::atomic<millis> offset_{millis{0}};
};

/// The wall clock stands still until it is turned; the steady one goes on.
class stopped_clock final : public clock {
public:
  timestamp wall_now() const override { return wall_; }
  steady_time steady_now() const override {
    return clock::system().steady_now();
  }

  void set(timestamp wall) { wall_ = wall; }
  void step(millis by) { wall_ = wall_.load() + by; }

private:
  std::atomic<timestamp> wall_{timestamp{std::chrono::seconds{1'700'000'000}}};
};

} // namespace alkstore::test
