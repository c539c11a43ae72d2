// What a worker does: claim jobs, then settle each within its deadline.
#pragma once

#include "substrate/job.hpp"
#include "substrate/names.hpp"
#include "substrate/transaction.hpp"

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace alkstore::claims {

/// Claims up to `max` due jobs for `worker`, payloads and all: by priority,
/// then `at`, then id. Each costs an attempt. Those found expired or exhausted
/// go to the dead letters instead, a bounded number a call. A job on its last
/// attempt is taken only among the first `startable`: it must be started at
/// once. No job is no error. Costs O(log n) in whatever lies beside it.
std::vector<job> claim(transaction& tx, const queue_name& queue,
                       std::string_view worker, int max, int startable);

/// The same without a limit on last attempts.
inline std::vector<job> claim(transaction& tx, const queue_name& queue,
                              std::string_view worker, int max) {
  return claim(tx, queue, worker, max, max);
}

// Each of the following needs a handle whose deadline has not passed and that
// no later claim superseded; else claim_lost, and nothing changes.

/// Done: deletes the job. One with a dedupe key leaves its mark behind.
void ack(transaction& tx, const claim_handle& handle);

/// Done with `count` jobs whose ids follow one another, from `first` on, under
/// the same claim number: false, and nothing has happened, unless each is held
/// and has no key. Internal: a third cheaper.
bool ack_neighbours(transaction& tx, const claim_handle& first, size_t count);

/// True if `next` is the id behind `id`. A damaged file can hold the last one.
inline bool follows(int64_t id, int64_t next) {
  return id < std::numeric_limits<int64_t>::max() && next == id + 1;
}

/// Failed this time: waits for the backoff, or for `delay` (>= 0) if given.
/// Without an attempt left it becomes a dead letter with `error`, past its
/// expiry one with `expired`.
void retry(transaction& tx, const claim_handle& handle, std::string_view error,
           std::optional<millis> delay = {});

/// Failed for good: a dead letter at once.
void fail(transaction& tx, const claim_handle& handle, std::string_view error);

/// Still at work: the deadline becomes max(old, now + extend), extend > 0.
/// Answers the handle to go on with. Errors: also invalid_argument.
claim_handle heartbeat(transaction& tx, const claim_handle& handle,
                       millis extend);

/// Hands it back unstarted: the attempt is not counted, its place is kept.
void release(transaction& tx, const claim_handle& handle);

/// When the queue's next job becomes claimable: a past time if one is now.
std::optional<timestamp> next_claim_at(transaction& tx,
                                       const queue_name& queue);

/// The wait after attempt n: base * 2^(n-1), at most 1 h, never overflowing.
millis retry_delay(millis base, int attempt);

/// The cap of retry_delay.
inline constexpr millis max_retry_delay = std::chrono::hours{1};

} // namespace alkstore::claims
