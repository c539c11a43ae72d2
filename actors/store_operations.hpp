// What each message to the writer does inside its transaction.
#pragma once

#include "actors/standing_claims.hpp"

namespace alkstore {

/// What a transaction's operations mean for others, and the settings they need.
struct effects {
  standing_claims& standing;
  const millis& transact_limit;
  const millis& retention;
  bool scheduler_concerned = false; ///< a boundary or the lease may be new
};

// One overload a message; enqueue and outbox_enqueue are in enqueue_group.hpp.
// Each throws a failure before it changes anything, or changes all that it has
// to.

std::vector<int64_t> run_in(transaction& tx, const enqueue_many& x,
                            effects& seen);
std::vector<job> run_in(transaction& tx, const claim_jobs& x, effects& seen);
completed run_in(transaction& tx, const ack& x, effects& seen);
completed run_in(transaction& tx, const retry& x, effects& seen);
completed run_in(transaction& tx, const fail& x, effects& seen);
completed run_in(transaction& tx, const release& x, effects& seen);
claim_handle run_in(transaction& tx, const heartbeat& x, effects& seen);
bool run_in(transaction& tx, const cancel_job& x, effects& seen);
bool run_in(transaction& tx, const requeue_dead& x, effects& seen);
bool run_in(transaction& tx, const delete_dead& x, effects& seen);
schedule run_in(transaction& tx, const add_schedule& x, effects& seen);
bool run_in(transaction& tx, const remove_schedule& x, effects& seen);
bool run_in(transaction& tx, const pause_schedule& x, effects& seen);
bool run_in(transaction& tx, const resume_schedule& x, effects& seen);
lease run_in(transaction& tx, const acquire_lock& x, effects& seen);
lease run_in(transaction& tx, const renew_lock& x, effects& seen);
bool run_in(transaction& tx, const release_lock& x, effects& seen);
completed run_in(transaction& tx, const transact_request& x, effects& seen);
settled run_in(transaction& tx, const settle& x, effects& seen);
tick_report run_in(transaction& tx, const tick& x, effects& seen);
lease run_in(transaction& tx, const campaign& x, effects& seen);
lease run_in(transaction& tx, const renew_leadership& x, effects& seen);
bool run_in(transaction& tx, const release_leadership& x, effects& seen);
maintenance_report run_in(transaction& tx, const maintain& x, effects& seen);

} // namespace alkstore
