// Sleeps of a few microseconds.
#pragma once

#include <sys/prctl.h>

namespace alkstore {

/// Makes the calling thread's sleeps end when they should: Linux lets each take
/// 50 us longer, to wake several threads at once. Quick when it has been done.
inline void exact_sleeps() {
  thread_local const auto done = ::prctl(PR_SET_TIMERSLACK, 1UL);
  static_cast<void>(done); // where it cannot be had, they take longer
}

} // namespace alkstore
