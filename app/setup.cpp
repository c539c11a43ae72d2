#include "app/setup.hpp"

namespace alkstore {

namespace {

template <class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};

queue_setup queue_of(const queue_config& x, const delivery_tools& tools) {
  queue_setup out;
  out.name = x.name;
  out.concurrency = out.credit = x.concurrency;
  std::visit(overloaded{
               [&](const log_config&) { out.handler = log_delivery(tools); },
               [&](const command_config& y) {
                 out.handler = command_delivery(y, tools);
               },
               [&](const forward_config& y) { out.forward_to = y.outbox; },
             },
             x.handler);
  return out;
}

outbox_setup outbox_of(const outbox_config& x, const delivery_tools& tools) {
  auto handler = std::visit(
    overloaded{
      [&](const log_config&) { return log_delivery(tools); },
      [&](const command_config& y) { return command_delivery(y, tools); },
      [&](const http_config& y) { return http_delivery(y, tools); },
    },
    x.handler);
  return {x.name, std::move(handler), x.concurrency};
}

} // namespace

runtime_options runtime_setup(const node_config& config, delivery_tools tools) {
  runtime_options out;
  out.store.path = config.database;
  out.store.open.sync = config.synchronous_full ? durability::full
                                                : durability::normal;
  out.store.open.busy_timeout = config.busy_timeout;
  out.store.open.rules = {static_cast<size_t>(config.max_payload),
                          config.dedupe_for};
  out.store.busy_timeout = config.busy_timeout;
  out.store.retention = config.retention;
  out.store.wal_limit = config.wal_limit;
  out.store.report = tools.report;
  out.lease = {config.lease_ttl, config.lease_renew};
  out.stop_grace = config.stop_grace;
  for (auto& x : config.schedules)
    out.schedules.push_back({x.name, x.spec, x.queue, x.payload, x.options});
  for (auto& x : config.queues)
    out.queues.push_back(queue_of(x, tools));
  for (auto& x : config.outboxes)
    out.outboxes.push_back(outbox_of(x, tools));
  return out;
}

} // namespace alkstore
