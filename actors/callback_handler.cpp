#include "actors/callback_handler.hpp"

#include "actors/errors.hpp"

#include <map>

namespace alkstore {

namespace {

using late_handler_actor = handler_clauses::with<
  // INTERNAL: what `deliver` concluded.
  void(late_verdict)>::handle;

class callback_handler final : public late_handler_actor::base {
public:
  callback_handler(caf::actor_config& cfg, async_delivery deliver)
    : late_handler_actor::base(cfg), deliver_(std::move(deliver)) {}

  const char* name() const override { return "callback_handler"; }

  void on_exit() override {
    for (auto& [number, promise] : open_)
      promise.deliver(make_error(errc::shutting_down, "the handler has ended"));
    open_.clear();
    deliver_ = nullptr;
  }

protected:
  behavior_type make_behavior() override {
    return {
      [this](delivery& x) { return begin(x); },
      [](const claim_lapsed&) {}, // the delivery has its own deadline
      [this](late_verdict& x) {
        auto found = open_.find(x.number);
        if (found == open_.end())
          return;
        found->second.deliver(std::move(x.what));
        open_.erase(found);
      },
    };
  }

private:
  caf::result<verdict> begin(delivery& x) {
    auto promise = make_response_promise<verdict>();
    auto number = ++last_;
    open_.emplace(number, promise);
    try {
      deliver_(
        std::move(x), [self = late_handler_actor{this}, number](verdict v) {
          port::send_anonymously(self, late_verdict{number, std::move(v)});
        });
    } catch (...) {
      open_.erase(number);
      promise.deliver(to_error(std::current_exception()));
    }
    return promise;
  }

  async_delivery deliver_;
  int64_t last_ = 0;
  std::map<int64_t, caf::typed_response_promise<verdict>> open_;
};

} // namespace

handler_actor spawn_callback_handler(caf::actor_system& sys,
                                     async_delivery deliver) {
  return sys.spawn<callback_handler>(std::move(deliver));
}

} // namespace alkstore
