// Keeps the leader's lease alive, and tells it when it is not. docs/lease.md.
#pragma once

#include "actors/substrate_writer.hpp"

namespace alkstore {

/// How long a lease holds, and how often it is renewed.
struct lease_timing {
  millis ttl = std::chrono::seconds{15};
  millis renew_every = ttl / 3; ///< at most half the ttl
};

/// Renews `held` through the writer, urgently, until stop_helper. When the
/// lease is lost, or when by the steady clock no renewal that was sent within
/// the last two thirds of the ttl has succeeded, it sends `leader` an error
/// message with leadership_lost and ends. `sent_at`: when the campaign that won
/// the lease was sent.
renewal_actor spawn_renewal(caf::actor_system& sys, lease held,
                            steady_time sent_at, const lease_timing& timing,
                            writer_actor writer, leader_actor leader,
                            const clock& time,
                            placement where = placement::detached);

} // namespace alkstore
