// Outboxes: messages that are delivered because their transaction committed.
#pragma once

#include "substrate/claims.hpp"
#include "substrate/jobs.hpp"

#include <functional>
#include <string_view>

namespace alkstore {

/// Puts a message into an outbox within the caller's own open transaction on
/// the caller's own connection. Stamps 60 s visibility, 5 attempts, 5 s backoff
/// base where the options say nothing. Errors: as enqueue_tx.
int64_t outbox_enqueue_tx(sqlite3* db, std::string_view outbox,
                          std::string_view payload,
                          const job_options& options = {},
                          const store_rules& rules = {},
                          const clock& time = clock::system());

/// Delivers one message: true if it was taken, false for a failure. May throw:
/// also a failure, with the exception's text. No transaction is open while it
/// runs, and no heartbeat is sent behind its back: it has the claim's handle.
using delivery_function = std::function<bool(const job&)>;

/// Claims one job of the queue and delivers it: acked after success, retried
/// with its queue's curve after a failure. True if a job was processed, false
/// if none was due. Errors: claim_lost if the claim lapsed meanwhile.
bool run_once(connection& db, const queue_name& queue, std::string_view worker,
              const delivery_function& deliver);

} // namespace alkstore
