// How much a program worked, to tell waiting from spinning.
#pragma once

#include "substrate/time.hpp"

#include <sys/resource.h>

namespace alkstore::test {

/// The processor time that this process has used so far.
inline millis cpu_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto of = [](const timeval& x) {
    return std::chrono::seconds{x.tv_sec}
           + std::chrono::microseconds{x.tv_usec};
  };
  return std::chrono::duration_cast<millis>(of(used.ru_utime)
                                            + of(used.ru_stime));
}

} // namespace alkstore::test
