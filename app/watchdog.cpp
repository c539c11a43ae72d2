#include "app/watchdog.hpp"

#include "app/log.hpp"
#include "app/node.hpp"

#include <cstdlib>

namespace alkstore {

watchdog::watchdog() : thread_([this] { run(); }) {}

watchdog::~watchdog() {
  {
    std::lock_guard lock{mutex_};
    dismissed_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void watchdog::expect(std::string what, millis at_most) {
  {
    std::lock_guard lock{mutex_};
    what_ = std::move(what);
    end_ = clock::now() + at_most;
  }
  changed_.notify_one();
}

void watchdog::run() {
  std::unique_lock lock{mutex_};
  while (!dismissed_) {
    if (!end_) {
      changed_.wait(lock);
      continue;
    }
    auto end = *end_;
    if (changed_.wait_until(lock, end) != std::cv_status::timeout
        || end != *end_ || dismissed_)
      continue;
    event x;
    x.severity = event::level::error;
    x.what = "hangs";
    x.name = "node";
    x.text = what_ + " takes too long; the process is ended without it";
    log_to_stdout(x);
    std::_Exit(exit_software);
  }
}

} // namespace alkstore
