// Works off the jobs of one plain queue.
#pragma once

#include "actors/consumer.hpp"

namespace alkstore {

/// The credit of a handler that answers at once (a prototype's drain had 0.90
/// of raw SQLite with 32 jobs in hand, 0.96 with 100, 0.99 with 256).
inline constexpr int prefetch_credit = 100;

/// Claim, handler, then ack, retry or dead letter. Throws what the factory
/// throws. Exit reasons: normal after stop; the handler's, if that ended.
consumer_actor spawn_queue_worker(caf::actor_system& sys,
                                  consumer_options options,
                                  const handler_factory& handler,
                                  writer_actor writer, reader_actor reader);

/// Puts each job's payload into an outbox, in the ack's own transaction.
consumer_actor spawn_queue_forwarder(caf::actor_system& sys,
                                     consumer_options options,
                                     std::string outbox, writer_actor writer,
                                     reader_actor reader);

} // namespace alkstore
