// The machine under every simulated process: time, process ids, randomness.
#pragma once

#include "substrate/clock.hpp"
#include "tests/simulation/dice.hpp"

#include <chrono>
#include <cstdint>

namespace alkstore::sim {

/// A span on the machine's own clock, which never jumps.
using nanos = std::chrono::nanoseconds;

/// What getpid, gethostname, getrandom, std::random_device and usleep answer
/// in this program while it lives. One at a time.
class machine {
public:
  explicit machine(uint64_t seed);
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
  ~machine();

  /// Null outside a simulation.
  static machine* current();

  nanos uptime() const { return uptime_; }
  void pass(nanos time) { uptime_ += time; }

  timestamp wall_now() const {
    return wall_ + std::chrono::floor<millis>(uptime_);
  }
  void turn_wall(millis by) { wall_ += by; }

  /// The id of the process whose code is running.
  int process = nobody;

  /// The simulation itself.
  static constexpr int nobody = 1000;

  uint64_t random_bits() { return random_.below(UINT64_MAX); }

private:
  nanos uptime_{std::chrono::hours{1}};
  timestamp wall_{std::chrono::seconds{1'700'000'000}};
  dice random_;
};

/// Makes one process the running one for a while.
class running {
public:
  running(machine& where, int process) : where_(where), before_(where.process) {
    where_.process = process;
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running() { where_.process = before_; }

private:
  machine& where_;
  int before_;
};

/// A process's view of the time: the machine's wall clock, and a steady one
/// with an offset of its own.
class process_clock final : public clock {
public:
  process_clock(const machine& where, millis offset)
    : where_(where), offset_(offset) {}

  timestamp wall_now() const override { return where_.wall_now(); }
  steady_time steady_now() const override {
    return steady_time{std::chrono::floor<millis>(where_.uptime()) + offset_};
  }

private:
  const machine& where_;
  millis offset_;
};

} // namespace alkstore::sim
