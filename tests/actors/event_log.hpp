// What the actors reported, and a way to wait for it.
#pragma once

#include "actors/event.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace alkstore::test {

/// The longest that any test waits for a message before it fails.
inline constexpr auto patience = std::chrono::seconds{20};

/// Collects events from the actors and lets a test wait for one. Its sinks may
/// outlive it.
class event_log {
public:
  event_sink sink() {
    return [state = state_](const event& x) {
      std::lock_guard lock{state->mutex};
      state->events.push_back(x);
      state->changed.notify_all();
    };
  }

  /// Waits for the `count`th event of that kind; fails the test without it.
  event wait_for(const std::string& what, size_t count = 1,
                 const std::string& name = {}) {
    std::unique_lock lock{state_->mutex};
    event found;
    auto there = state_->changed.wait_for(lock, patience, [&] {
      size_t seen = 0;
      for (auto& x : state_->events)
        if (x.what == what && (name.empty() || x.name == name)
            && ++seen == count) {
          found = x;
          return true;
        }
      return false;
    });
    INFO("waiting for event " << count << " of \"" << what << "\" " << name);
    REQUIRE(there);
    return found;
  }

  size_t count(const std::string& what) {
    auto events = all();
    return static_cast<size_t>(std::count_if(
      events.begin(), events.end(), [&](auto& x) { return x.what == what; }));
  }

  std::vector<event> all() {
    std::lock_guard lock{state_->mutex};
    return state_->events;
  }

private:
  struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<event> events;
  };
  std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

} // namespace alkstore::test
