// What the actors reported, and a way to wait for it.
#pragma once

#include "actors/event.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace alkstore::test {

/// The longest that any test waits for a message before it fails.
inline constexpr auto patience = std::chrono::seconds{20};

/// Collects events from the actors and lets a test wait for one.
class event_log {
public:
  event_sink sink() {
    return [this](const event& x) {
      std::lock_guard lock{mutex_};
      events_.push_back(x);
      changed_.notify_all();
    };
  }

  /// Waits for the `count`th event of that kind; fails the test without it.
  event wait_for(const std::string& what, size_t count = 1,
                 const std::string& name = {}) {
    std::unique_lock lock{mutex_};
    event found;
    auto there = changed_.wait_for(lock, patience, [&] {
      size_t seen = 0;
      for (auto& x : events_)
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
    std::lock_guard lock{mutex_};
    return events_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<event> events_;
};

} // namespace alkstore::test
