// Handlers whose deliveries end on a test's desk.
#pragma once

#include "actors/callback_handler.hpp"
#include "actors/consumer.hpp"
#include "tests/actors/event_log.hpp"

#include <deque>
#include <map>

namespace alkstore::test {

/// A delivery that waits for its verdict.
struct open_delivery {
  job what;
  millis time_limit{};
  std::function<void(verdict)> conclude;
};

/// Collects the deliveries of its handlers. Must outlive them.
class desk {
public:
  /// Handlers that leave the verdict to the test.
  handler_factory handler() {
    return [this](caf::actor_system& sys) {
      return spawn_callback_handler(
        sys, [this](delivery x, std::function<void(verdict)> conclude) {
          std::lock_guard lock{mutex_};
          open_.push_back({std::move(x.what), x.time_limit,
                           std::move(conclude)});
          ++started_;
          changed_.notify_all();
        });
    };
  }

  /// Handlers that answer at once.
  handler_factory handler(verdict always) {
    return [this, always](caf::actor_system& sys) {
      return spawn_callback_handler(
        sys, [this, always](delivery, std::function<void(verdict)> conclude) {
          conclude(always);
          std::lock_guard lock{mutex_};
          ++started_;
          changed_.notify_all();
        });
    };
  }

  /// The next delivery; fails the test without it.
  open_delivery next() {
    std::unique_lock lock{mutex_};
    REQUIRE(changed_.wait_for(lock, patience, [&] { return !open_.empty(); }));
    auto out = std::move(open_.front());
    open_.pop_front();
    return out;
  }

  /// True if none comes within that time.
  bool stays_empty(millis within) {
    std::unique_lock lock{mutex_};
    return !changed_.wait_for(lock, within, [&] { return !open_.empty(); });
  }

  /// How many deliveries were started so far.
  int started() {
    std::lock_guard lock{mutex_};
    return started_;
  }

  /// Waits until so many were started.
  void wait_started(int count) {
    std::unique_lock lock{mutex_};
    INFO(started_ << " of " << count << " deliveries were started");
    REQUIRE(
      changed_.wait_for(lock, patience, [&] { return started_ >= count; }));
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<open_delivery> open_;
  int started_ = 0;
};

} // namespace alkstore::test
