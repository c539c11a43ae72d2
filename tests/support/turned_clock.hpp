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

} // namespace alkstore::test
