// The only actor that writes: many messages, one transaction.
#pragma once

#include "actors/admission.hpp"
#include "actors/event.hpp"
#include "substrate/connection.hpp"

namespace alkstore {

/// Where an actor runs: in a thread of its own (programs), or in CAF's pool
/// (simulations, which allow no detached actor).
enum class placement : uint8_t { detached, pooled };

struct writer_options {
  std::string path{};
  open_options open{};
  /// How long an operation waits for another connection's write transaction
  /// before it is answered `busy`.
  millis busy_timeout = std::chrono::seconds{5};
  millis transact_limit = std::chrono::seconds{1};
  millis retention = std::chrono::hours{24 * 30}; ///< of dead letters
  int64_t wal_limit = 64 * 1024 * 1024;           ///< bytes
  admission::bounds waiting{};
  const clock* time = &clock::system();
  event_sink report = [](const event&) {};
};

/// Opens the store in the caller's thread and starts its writer. It gathers
/// what is in its mailbox, commits it at once, and only then answers each
/// sender. Errors: throws a failure if the store cannot be opened. Exit
/// reasons: normal after stop; moved, corrupt, schema_too_new; io_error when
/// the disk fails again after the file was opened anew.
writer_actor spawn_writer(caf::actor_system& sys, writer_options options,
                          placement where = placement::detached);

} // namespace alkstore
