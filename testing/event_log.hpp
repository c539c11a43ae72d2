// What a store's actors reported, and a way to wait for it.
#pragma once

#include "actors/event.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace alkstore::testing {

/// The longest that anything here waits before it throws.
inline constexpr std::chrono::seconds patience{20};

/// Collects events. Its sinks may outlive it. The events that there are:
/// docs/operations.md.
class event_log {
public:
  /// What collects: for writer_options::report.
  event_sink sink();

  /// The `count`th event with that `what` and, unless it is empty, that name.
  /// Throws std::runtime_error when it does not come.
  event wait_for(const std::string& what, size_t count = 1,
                 const std::string& name = {});

  /// How many with that `what` there were so far.
  size_t count(const std::string& what);

  std::vector<event> all();

  /// Waits until there are more than `seen`, but no longer than that.
  void wait_for_more(size_t seen, millis at_most);

private:
  struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<event> events;
  };

  std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

} // namespace alkstore::testing
