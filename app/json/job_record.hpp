// A job as a record: the same fields on the command line and in SQL.
#pragma once

#include "app/json/record.hpp"
#include "substrate/job.hpp"

namespace alkstore {

/// Every field of a job but its payload. An outbox's job has `outbox` where
/// others have `queue`; the other one is null. `now` tells `delayed` (waiting
/// for its run_at) from `waiting`.
record job_record(const job& what, timestamp now);

/// That, and the payload.
record whole_job_record(const job& what, timestamp now);

} // namespace alkstore
