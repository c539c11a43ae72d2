// One moment, passed from the thread where it happens to the one that waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace alkstore::bench {

class handover {
public:
  using time_point = std::chrono::steady_clock::time_point;

  void set_now() {
    auto now = std::chrono::steady_clock::now();
    std::lock_guard lock{mutex_};
    when_ = now;
    changed_.notify_one();
  }

  /// Waits for set_now(), and is ready for the next one.
  time_point take() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return when_.has_value(); });
    auto out = *when_;
    when_.reset();
    return out;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<time_point> when_;
};

} // namespace alkstore::bench
