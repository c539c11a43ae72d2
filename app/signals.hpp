// SIGTERM and SIGINT as something to wait for.
#pragma once

#include "app/unique_fd.hpp"
#include "substrate/time.hpp"

namespace alkstore {

/// Blocks the two signals in this thread, and so in every thread that it starts
/// from then on, and reads them from a descriptor. Throws std::system_error
/// without descriptors.
class signal_source {
public:
  enum class event { stop, woken, timeout };

  static constexpr millis for_ever{-1};

  signal_source();

  /// Waits for a signal, for wake(), or until the time is over.
  event wait(millis at_most);

  /// Makes wait() return; from any thread.
  void wake();

private:
  unique_fd signals_;
  unique_fd wake_;
};

} // namespace alkstore
