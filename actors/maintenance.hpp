// Tidies up while its leader leads.
#pragma once

#include "actors/substrate_writer.hpp"

namespace alkstore {

/// Moves expired and exhausted jobs to the dead letters, and deletes old dead
/// letters and dedupe marks: every 10 s, in pieces of at most 500 rows, until
/// stop_helper.
maintenance_actor spawn_maintenance(caf::actor_system& sys, lease leadership,
                                    writer_actor writer,
                                    const event_sink& report);

} // namespace alkstore
