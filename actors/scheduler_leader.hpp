// Exactly one of all nodes on a file leads and fires the schedules.
// docs/lease.md draws the protocol.
#pragma once

#include "actors/lock_renewal.hpp"

#include <string>

namespace alkstore {

struct leader_options {
  std::string owner; ///< unique per actor instance: never used by another
  lease_timing timing;
  const clock* time = &clock::system();
  placement where = placement::detached;
  event_sink report = [](const event&) {};
};

/// Stands by until the lease can be had, then leads: ticks, and sleeps until
/// the soonest boundary. Exit reasons: leadership_lost; normal after stop, with
/// the lease released.
leader_actor spawn_leader(caf::actor_system& sys, leader_options options,
                          writer_actor writer, reader_actor reader);

} // namespace alkstore
