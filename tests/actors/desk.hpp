// Handlers whose deliveries end on a test's desk.
#pragma once

#include "actors/callback_handler.hpp"
#include "actors/consumer.hpp"
#include "tests/actors/event_log.hpp"

#include <deque>

namespace alkstore::test {

/// A delivery that waits for its verdict.
struct open_delivery {
  job what;
  millis time_limit{};
  std::function<void(verdict)> conclude;
};

/// Collects the deliveries of its handlers, which may outlive it.
class desk {
public:
  /// Handlers that leave the verdict to the test.
  handler_factory handler() {
    return make([](shared& state, open_delivery x) {
      state.open.push_back(std::move(x));
    });
  }

  /// Handlers that answer at once.
  handler_factory handler(verdict always) {
    return make(
      [always](shared&, const open_delivery& x) { x.conclude(always); });
  }

  /// The next delivery; fails the test without it.
  open_delivery next() {
    std::unique_lock lock{state_->mutex};
    REQUIRE(state_->changed.wait_for(lock, patience,
                                     [this] { return !state_->open.empty(); }));
    auto out = std::move(state_->open.front());
    state_->open.pop_front();
    return out;
  }

  /// True if none comes within that time.
  bool stays_empty(millis within) {
    std::unique_lock lock{state_->mutex};
    return !state_->changed.wait_for(lock, within,
                                     [this] { return !state_->open.empty(); });
  }

  /// How many deliveries were started so far.
  int started() {
    std::lock_guard lock{state_->mutex};
    return state_->started;
  }

  /// Waits until so many were started.
  void wait_started(int count) {
    std::unique_lock lock{state_->mutex};
    auto there = state_->changed.wait_for(
      lock, patience, [&] { return state_->started >= count; });
    INFO(state_->started << " of " << count << " deliveries were started");
    REQUIRE(there);
  }

private:
  struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<open_delivery> open;
    int started = 0;
  };

  template <class F>
  handler_factory make(F take) {
    return [state = state_, take](caf::actor_system& sys) {
      return spawn_callback_handler(
        sys, [=](delivery x, std::function<void(verdict)> conclude) {
          std::lock_guard lock{state->mutex};
          take(*state, {std::move(x.what), x.time_limit, std::move(conclude)});
          ++state->started;
          state->changed.notify_all();
        });
    };
  }

  std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

} // namespace alkstore::test
