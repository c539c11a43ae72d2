// The two clocks of the store, injected so that tests can turn them.
#pragma once

#include "substrate/time.hpp"

namespace alkstore {

/// Where the time comes from. Shared between threads; implementations are
/// thread-safe.
class clock {
public:
  virtual ~clock() = default;

  /// The wall clock, which may jump both ways: deadlines and boundaries.
  virtual timestamp wall_now() const = 0;

  /// The steady clock: how long something took, how old a lease is.
  virtual steady_time steady_now() const = 0;

  /// The machine's clocks. Lives for the whole program.
  static const clock& system();
};

} // namespace alkstore
