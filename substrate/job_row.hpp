// How a job's row is read, for the tables that hold jobs. Internal.
#pragma once

#include "substrate/job.hpp"
#include "substrate/statement.hpp"

// What a claim has to read, in read_claimable's order: each column of each row
// costs time, and the others are known to it.
#define ALKSTORE_CLAIMABLE_COLUMNS                                             \
  "id, stable_id, attempts, max_attempts, visibility_ms, backoff_ms, "         \
  "enqueued_at, run_at, expires_at, claim_number, dedupe_key, schedule, "      \
  "fire_at, last_error"

// The columns that live jobs and dead letters share, in read_job's order.
#define ALKSTORE_JOB_COLUMNS                                                   \
  ALKSTORE_CLAIMABLE_COLUMNS ", queue, priority, worker"

// A job's payload as one more column. No join: were the application to run
// ANALYZE, the planner might choose to scan the payloads.
#define ALKSTORE_PAYLOAD                                                       \
  "(SELECT payload FROM alkstore_payloads WHERE job_id = id)"

namespace alkstore {

/// The index of the first column behind each.
inline constexpr int after_claimable_columns = 14;
inline constexpr int after_job_columns = 17;

/// Reads ALKSTORE_CLAIMABLE_COLUMNS from the front of the current row.
job read_claimable(const statement& row);

/// Reads ALKSTORE_JOB_COLUMNS from the front of the current row.
job read_job(const statement& row);

} // namespace alkstore
