// Jobs: put in, looked at, taken out. What workers do with them: claims.hpp.
#pragma once

#include "substrate/job.hpp"
#include "substrate/names.hpp"
#include "substrate/transaction.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace alkstore {

/// The boundary that fired a job.
struct firing_origin {
  std::string_view schedule;
  timestamp fire_at;
};

namespace jobs {

/// Refuses (invalid_argument) options that are out of range.
void check(const job_options& options);

/// Refuses (payload_too_large) a payload above the store's limit.
void check_payload(const transaction& tx, std::string_view payload);

/// Stores a job and answers its id. With a dedupe key that a waiting or running
/// job holds, or that an acked one held less than `dedupe-for` ago, nothing is
/// stored and that job's id is the answer. Nothing is written when it refuses:
/// invalid_argument, payload_too_large.
int64_t enqueue(transaction& tx, const queue_name& queue,
                std::string_view payload, const job_options& options = {});

/// A job to be. What it refers to has to outlive the call.
struct new_job {
  const queue_name& queue;
  std::string_view payload;
  const job_options& options;
  std::optional<firing_origin> origin{};
};

/// Rows that one statement inserts at most (measured, instructions a job: one
/// row 24,800, four 15,100, sixteen 10,800, thirty-two 10,100).
inline constexpr size_t rows_at_once = 16;

/// The same for several, at less than half of the cost for each; all or none.
std::vector<int64_t> enqueue(transaction& tx, std::span<const new_job> wanted);

/// Stores jobs whose options and payloads were checked before, without a look
/// at their keys: what a schedule was registered with stays good. Internal.
std::vector<int64_t> insert(transaction& tx, std::span<const new_job> wanted);

/// Stores one as insert() does and claims it in the same breath, at a third of
/// what both cost: for a worker that waits for a job of a queue in which
/// nothing is due. Answers what claims::claim would, but for the payload; none,
/// and nothing is stored, for a job that starts later, has a key, or would be
/// at its last attempt, which is not to wait in a worker's hands. Internal.
std::optional<job> insert_claimed(transaction& tx, const new_job& wanted,
                                  std::string_view worker);

/// A live job or a dead letter. Errors: not_found, also after ack or cancel.
job get(transaction& tx, int64_t id);

/// Live jobs of a queue in id order, from `after` on, without payloads.
std::vector<job> list(transaction& tx, const queue_name& queue, int64_t after,
                      int max);

/// Where a live job can stand. A claim that lapsed leaves it waiting.
enum class live_state : uint8_t {
  waiting, ///< claimable now
  delayed, ///< waiting for its run_at
  running,
};

/// Which live jobs are meant. What is not given does not matter.
struct filter {
  std::optional<queue_name> queue{};
  std::optional<live_state> state{};
  int64_t after = 0; ///< ids above it
  int max = 100;
};

/// Live jobs in id order, without payloads. O(live jobs).
std::vector<job> list(transaction& tx, const filter& wanted);

/// Removes a waiting or running job; its worker's next call is claim_lost.
/// False if it is not there.
bool cancel(transaction& tx, int64_t id);

/// Moves jobs that expired unclaimed, and those whose last attempt lapsed, to
/// the dead letters; at most `max`. Returns how many.
int sweep_expired(transaction& tx, int max);

/// How many jobs of a queue are where.
struct queue_stats {
  std::string queue;   ///< as stored: an outbox's has the reserved prefix
  int64_t waiting = 0; ///< claimable now
  int64_t delayed = 0; ///< waiting for their run_at
  int64_t running = 0;
  int64_t dead = 0;
};

/// Every queue that holds a job or a dead letter. O(jobs).
std::vector<queue_stats> stats(transaction& tx);

} // namespace jobs

/// Enqueues within the caller's own open transaction on the caller's own
/// connection: commit lands both, rollback neither; durable as that
/// connection's `synchronous` says. Errors: as jobs::enqueue, invalid_name,
/// reserved_name, invalid_argument if no transaction is open, busy for a stale
/// snapshot.
int64_t enqueue_tx(sqlite3* db, std::string_view queue,
                   std::string_view payload, const job_options& options = {},
                   const store_rules& rules = {},
                   const clock& time = clock::system());

} // namespace alkstore
