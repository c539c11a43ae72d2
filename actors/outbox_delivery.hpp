// Delivers the messages of one outbox.
#pragma once

#include "actors/consumer.hpp"

namespace alkstore {

/// Claim, delivery through the handler, then ack, retry or dead letter: one
/// actor an outbox, so that no outbox waits for another. Throws what the
/// factory throws. Exit reasons: normal after stop; the handler's, if that
/// ended.
consumer_actor spawn_outbox_delivery(caf::actor_system& sys,
                                     consumer_options options,
                                     const handler_factory& handler,
                                     writer_actor writer, reader_actor reader);

} // namespace alkstore
