#include "substrate/job_row.hpp"

#include "substrate/text.hpp"

namespace alkstore {

job read_job(const statement& row) {
  job out;
  out.id = row.integer(0);
  out.stable_id = to_hex(row.bytes(1));
  out.queue = row.bytes(2);
  out.priority = static_cast<int>(row.integer(3));
  out.attempts = static_cast<int>(row.integer(4));
  out.max_attempts = static_cast<int>(row.integer(5));
  out.visibility_timeout = millis{row.integer(6)};
  out.backoff_base = millis{row.integer(7)};
  out.enqueued_at = row.time(8);
  out.run_at = row.time(9);
  out.expires_at = row.maybe_time(10);
  out.claim.job = out.id;
  out.claim.number = row.integer(11);
  out.worker = row.bytes(12);
  out.dedupe_key = row.bytes(13);
  out.schedule = row.bytes(14);
  out.fire_at = row.maybe_time(15);
  out.last_error = row.bytes(16);
  return out;
}

} // namespace alkstore
