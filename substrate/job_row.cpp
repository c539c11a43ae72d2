#include "substrate/job_row.hpp"

#include "substrate/text.hpp"

namespace alkstore {

job read_claimable(const statement& row) {
  job out;
  out.id = row.integer(0);
  out.stable_id = to_hex(row.view(1));
  out.attempts = static_cast<int>(row.integer(2));
  out.max_attempts = static_cast<int>(row.integer(3));
  out.visibility_timeout = millis{row.integer(4)};
  out.backoff_base = millis{row.integer(5)};
  out.enqueued_at = row.time(6);
  out.run_at = row.time(7);
  out.expires_at = row.maybe_time(8);
  out.claim.job = out.id;
  out.claim.number = row.integer(9);
  out.dedupe_key = row.bytes(10);
  out.schedule = row.bytes(11);
  out.fire_at = row.maybe_time(12);
  out.last_error = row.bytes(13);
  return out;
}

job read_job(const statement& row) {
  auto out = read_claimable(row);
  out.queue = row.bytes(14);
  out.priority = static_cast<int>(row.integer(15));
  out.worker = row.bytes(16);
  return out;
}

} // namespace alkstore
