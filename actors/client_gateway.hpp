// What other hosts talk to: the store's operations for clients, and no others.
#pragma once

#include "actors/actors.hpp"

namespace alkstore {

/// Passes a client's requests on to the store that `runtime` has at that time,
/// and the answers back. For publishing: docs/remote.md. It ends by an exit
/// message, which whoever spawned it has to send before the runtime's stop.
client_actor spawn_client_gateway(caf::actor_system& sys,
                                  runtime_actor runtime);

} // namespace alkstore
