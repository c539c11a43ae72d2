// How a job's row is read, for the tables that hold jobs. Internal.
#pragma once

#include "substrate/job.hpp"
#include "substrate/statement.hpp"

// The columns that live jobs and dead letters share, in read_job's order.
#define ALKSTORE_JOB_COLUMNS                                                   \
  "id, stable_id, queue, priority, attempts, max_attempts, visibility_ms, "    \
  "backoff_ms, enqueued_at, run_at, expires_at, claim_number, worker, "        \
  "dedupe_key, schedule, fire_at, last_error"

// A job's payload as one more column. No join: were the application to run
// ANALYZE, the planner might choose to scan the payloads.
#define ALKSTORE_PAYLOAD                                                       \
  "(SELECT payload FROM alkstore_payloads WHERE job_id = id)"

namespace alkstore {

/// The index of the first column behind ALKSTORE_JOB_COLUMNS.
inline constexpr int after_job_columns = 17;

/// Reads ALKSTORE_JOB_COLUMNS from the front of the current row.
job read_job(const statement& row);

} // namespace alkstore
