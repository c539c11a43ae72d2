// SIGTERM and SIGINT as something to wait for.
#pragma once

#include "app/unique_fd.hpp"

namespace alkstore {

/// Blocks the two signals in this thread, and so in every thread that it starts
/// from then on, and reads them from a descriptor. Throws std::system_error
/// without descriptors.
class signal_source {
public:
  enum class event { stop, woken };

  signal_source();

  /// Waits for a signal or for wake().
  event wait();

  /// Makes wait() return; from any thread.
  void wake();

private:
  unique_fd signals_;
  unique_fd wake_;
};

} // namespace alkstore
