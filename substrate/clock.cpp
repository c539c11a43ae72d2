#include "substrate/clock.hpp"

#ifdef ALKSTORE_TEST_CLOCK
#  include <fcntl.h>
#  include <sys/mman.h>
#  include <unistd.h>

#  include <atomic>
#  include <cstdint>
#  include <cstdlib>
#endif

namespace alkstore {

namespace {

#ifdef ALKSTORE_TEST_CLOCK
// Programs built for tests add the milliseconds in the file that
// ALKSTORE_TEST_CLOCK_FILE names, an int64 that the test changes at will.
millis test_offset() {
  static const auto* offset = [] {
    void* page = MAP_FAILED;
    if (auto path = std::getenv("ALKSTORE_TEST_CLOCK_FILE")) {
      auto file = ::open(path, O_RDONLY | O_CLOEXEC);
      if (file >= 0) {
        page = ::mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
        ::close(file);
      }
    }
    return page == MAP_FAILED ? nullptr
                              : static_cast<const std::atomic<int64_t>*>(page);
  }();
  return millis{offset ? offset->load() : 0};
}
#else
constexpr millis test_offset() {
  return millis{0};
}
#endif

class system_clock final : public clock {
public:
  timestamp wall_now() const override {
    return std::chrono::floor<millis>(std::chrono::system_clock::now())
           + test_offset();
  }

  steady_time steady_now() const override {
    return std::chrono::floor<millis>(std::chrono::steady_clock::now());
  }
};

} // namespace

const clock& clock::system() {
  static const system_clock instance;
  return instance;
}

} // namespace alkstore
