// Starts a store's actors, keeps them running, ends them in good order.
#pragma once

#include "actors/consumer.hpp"
#include "actors/lock_renewal.hpp"
#include "actors/substrate_writer.hpp"

#include <string>
#include <vector>

namespace alkstore {

/// A plain queue that this process works off: by a handler, or by putting each
/// payload into an outbox.
struct queue_setup {
  std::string name;
  handler_factory handler; ///< empty with forward_to
  std::string forward_to;  ///< an outbox; empty with handler
  int concurrency = 8;     ///< jobs that are being handled at once
  int credit = 8;          ///< jobs in hand at once, >= concurrency
};

/// An outbox that this process delivers.
struct outbox_setup {
  std::string name;
  handler_factory handler;
  int concurrency = 8; ///< deliveries at once
};

/// When an actor that died is started again, and when that is given up.
struct restart_policy {
  millis first{100}; ///< doubled each time
  millis cap{5000};
  int limit = 5; ///< failures within `within` that end the runtime
  millis within{60'000};
};

struct runtime_options {
  writer_options store{};
  lease_timing lease{};
  std::vector<schedule_request> schedules{}; ///< registered at the start
  std::vector<queue_setup> queues{};
  std::vector<outbox_setup> outboxes{};
  millis stop_grace{10'000}; ///< what running deliveries get on a stop
  restart_policy restarts{};
  placement where = placement::detached;
};

/// Opens the store, registers the schedules and starts everything. Errors:
/// throws a failure if the file cannot be opened or something in the options is
/// refused. Exit reasons of the runtime: normal after stop; an error that names
/// the actor that could not be kept running; moved, corrupt, schema_too_new.
runtime_actor start(caf::actor_system& sys, runtime_options options);

} // namespace alkstore
