#include "testing/event_log.hpp"

#include <algorithm>
#include <stdexcept>

namespace alkstore::testing {

event_sink event_log::sink() {
  return [state = state_](const event& x) {
    std::lock_guard lock{state->mutex};
    state->events.push_back(x);
    state->changed.notify_all();
  };
}

event event_log::wait_for(const std::string& what, size_t count,
                          const std::string& name) {
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
  if (!there)
    throw std::runtime_error{"event " + std::to_string(count) + " of \"" + what
                             + "\" " + name + " has not come"};
  return found;
}

size_t event_log::count(const std::string& what) {
  std::lock_guard lock{state_->mutex};
  return static_cast<size_t>(
    std::count_if(state_->events.begin(), state_->events.end(),
                  [&](auto& x) { return x.what == what; }));
}

std::vector<event> event_log::all() {
  std::lock_guard lock{state_->mutex};
  return state_->events;
}

void event_log::wait_for_more(size_t seen, millis at_most) {
  std::unique_lock lock{state_->mutex};
  state_->changed.wait_for(lock, at_most,
                           [&] { return state_->events.size() > seen; });
}

} // namespace alkstore::testing
