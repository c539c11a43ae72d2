#include "testing/fake_delivery.hpp"

#include "actors/callback_handler.hpp"
#include "testing/event_log.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace alkstore::testing {

struct fake_delivery::shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<verdict> script;
  std::deque<taken> unseen;
  int started = 0;
};

fake_delivery::fake_delivery() : state_(std::make_shared<shared>()) {}

handler_factory fake_delivery::handler() {
  return make([](shared& state, taken& x) {
    auto answer = verdict::delivered();
    if (!state.script.empty()) {
      answer = std::move(state.script.front());
      state.script.pop_front();
    }
    std::exchange(x.conclude, [](const verdict&) {})(std::move(answer));
  });
}

handler_factory fake_delivery::handler(verdict always) {
  return make([always](shared&, taken& x) {
    std::exchange(x.conclude, [](const verdict&) {})(always);
  });
}

handler_factory fake_delivery::held() {
  return make([](shared&, taken&) {});
}

fake_delivery& fake_delivery::then(verdict answer) {
  std::lock_guard lock{state_->mutex};
  state_->script.push_back(std::move(answer));
  return *this;
}

taken fake_delivery::next() {
  std::unique_lock lock{state_->mutex};
  if (!state_->changed.wait_for(lock, patience,
                                [this] { return !state_->unseen.empty(); }))
    throw std::runtime_error{"no delivery has come"};
  auto out = std::move(state_->unseen.front());
  state_->unseen.pop_front();
  return out;
}

bool fake_delivery::stays_empty(millis within) {
  std::unique_lock lock{state_->mutex};
  return !state_->changed.wait_for(lock, within,
                                   [this] { return !state_->unseen.empty(); });
}

int fake_delivery::started() {
  std::lock_guard lock{state_->mutex};
  return state_->started;
}

void fake_delivery::wait_started(int count) {
  std::unique_lock lock{state_->mutex};
  if (!state_->changed.wait_for(lock, patience,
                                [&] { return state_->started >= count; }))
    throw std::runtime_error{std::to_string(state_->started) + " of "
                             + std::to_string(count)
                             + " deliveries were started"};
}

handler_factory fake_delivery::make(answer_function answer) {
  return [state = state_, answer](caf::actor_system& sys) {
    return spawn_callback_handler(
      sys, [=](delivery x, std::function<void(verdict)> conclude) {
        std::lock_guard lock{state->mutex};
        taken one{std::move(x.what), x.time_limit, std::move(conclude)};
        answer(*state, one);
        state->unseen.push_back(std::move(one));
        ++state->started;
        state->changed.notify_all();
      });
  };
}

} // namespace alkstore::testing
