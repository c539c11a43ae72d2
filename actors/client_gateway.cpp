#include "actors/client_gateway.hpp"

namespace alkstore {

namespace {

class client_gateway final : public client_actor::base {
public:
  client_gateway(caf::actor_config& cfg, runtime_actor runtime)
    : client_actor::base(cfg), runtime_(std::move(runtime)) {}

  const char* name() const override { return "client_gateway"; }

  void on_exit() override { runtime_ = nullptr; }

protected:
  behavior_type make_behavior() override {
    return {
      [this](alkstore::enqueue& x) { return to_store<int64_t>(std::move(x)); },
      [this](outbox_enqueue& x) { return to_store<int64_t>(std::move(x)); },
      [this](add_schedule& x) {
        return to_store<alkstore::schedule>(std::move(x));
      },
      [this](remove_schedule& x) { return to_store<bool>(std::move(x)); },
      [this](get_job x) { return to_reader<job>(x); },
      [this](get_stats x) {
        return to_reader<std::vector<jobs::queue_stats>>(x);
      },
    };
  }

private:
  template <class Reply, class Message>
  caf::result<Reply> to_store(Message x) {
    return pass_on<Reply>(std::move(x), &store_handles::store);
  }

  template <class Reply, class Message>
  caf::result<Reply> to_reader(Message x) {
    return pass_on<Reply>(std::move(x), &store_handles::reader);
  }

  /// The handles are asked for each time, since a restart changes them. Asked,
  /// and not delegated to: CAF's network keeps a reference to whoever answers a
  /// remote client, and a detached actor that is kept so hangs the system's
  /// end.
  template <class Reply, class Message, class Handle>
  caf::result<Reply> pass_on(Message x, Handle store_handles::* whom) {
    auto promise = make_response_promise<Reply>();
    auto refuse = [promise](const caf::error& why) mutable {
      promise.deliver(why);
    };
    auto answer = [promise](Reply& x) mutable {
      promise.deliver(std::move(x));
    };
    port::ask(this, caf::infinite, runtime_, get_store{})
      .then(
        [this, answer, refuse, whom,
         x = std::move(x)](const store_handles& there) mutable {
          port::ask(this, caf::infinite, there.*whom, std::move(x))
            .then(std::move(answer), std::move(refuse));
        },
        refuse);
    return promise;
  }

  runtime_actor runtime_;
};

} // namespace

client_actor spawn_client_gateway(caf::actor_system& sys,
                                  runtime_actor runtime) {
  return sys.spawn<client_gateway>(std::move(runtime));
}

} // namespace alkstore
