#include "substrate/clock.hpp"

namespace alkstore {

namespace {

class system_clock final : public clock {
public:
  timestamp wall_now() const override {
    return std::chrono::floor<millis>(std::chrono::system_clock::now());
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
