// Reads of committed state on a connection of its own.
#pragma once

#include "actors/substrate_writer.hpp"

namespace alkstore {

/// Starts a reader of the file that the writer has made. It opens the file when
/// the first question comes, and anew after a fault: no question fails for a
/// fault that has passed.
reader_actor spawn_reader(caf::actor_system& sys, const writer_options& options,
                          placement where = placement::detached);

} // namespace alkstore
