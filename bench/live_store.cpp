#include "bench/live_store.hpp"

#include "actors/queue_worker.hpp"

namespace alkstore::bench {

namespace {

runtime_options plain(const std::string& path) {
  runtime_options out;
  out.store.path = path;
  return out;
}

} // namespace

system_config::system_config(scheduler choice) {
  static const auto once = (port::init_messages<caf::id_block::alkstore>(),
                            true);
  static_cast<void>(once);
  port::register_types<caf::id_block::alkstore, errc>(*this);
  if (choice == scheduler::sharing)
    port::prefer_sharing(*this);
}

live_store::live_store(runtime_options options, scheduler choice)
  : config_(choice),
    sys_(config_),
    self_(sys_),
    runtime_(start(sys_, std::move(options))) {
  handles_ = ask<store_handles>(runtime_, get_store{});
}

live_store::live_store(const std::string& path, scheduler choice)
  : live_store(plain(path), choice) {}

live_store::~live_store() {
  for (auto& x : consumers_)
    port::ask(self_, caf::infinite, x, stop{})
      .receive([](completed) {}, [](const caf::error&) {});
  consumers_.clear();
  handles_ = {};
  port::ask(self_, caf::infinite, runtime_, stop{})
    .receive([](completed) {}, [](const caf::error&) {});
}

void live_store::work_off(const std::string& queue,
                          const handler_factory& handler, int credit,
                          event_sink report) {
  consumer_options options;
  options.name = queue;
  options.worker = "bench-worker:12345:12345678901234567";
  options.credit = credit;
  options.report = std::move(report);
  consumers_.push_back(spawn_queue_worker(
    sys_, std::move(options), handler,
    caf::actor_cast<writer_actor>(handles_.store), handles_.reader));
}

handler_actor spawn_noop_handler(caf::actor_system& sys) {
  return sys.spawn([](handler_actor::pointer) -> handler_actor::behavior_type {
    return {
      [](const delivery&) { return verdict::delivered(); },
      [](const claim_lapsed&) {},
    };
  });
}

} // namespace alkstore::bench
