#include "substrate/dead_letters.hpp"

#include "substrate/dedupe.hpp"
#include "substrate/job_row.hpp"
#include "substrate/text.hpp"

#define DEAD_AND_LIVE_COLUMNS                                                  \
  "id, queue, priority, claim_number, max_attempts, visibility_ms, "           \
  "backoff_ms, enqueued_at, stable_id, worker, dedupe_key, schedule, fire_at"

namespace alkstore::dead_letters {

void bury(transaction& tx, int64_t id, std::string_view error) {
  auto text = error_text(error);
  tx.run("INSERT INTO alkstore_dead(" DEAD_AND_LIVE_COLUMNS
         ", run_at, attempts, expires_at, last_error, died_at)"
         " SELECT " DEAD_AND_LIVE_COLUMNS ", run_at, attempts, expires_at, ?2,"
         " ?3 FROM alkstore_jobs WHERE id = ?1",
         id, text, tx.now());
  tx.require_changed(1);
  tx.run("DELETE FROM alkstore_jobs WHERE id = ?1", id);
}

job get(transaction& tx, int64_t id) {
  auto row = tx.sql("SELECT " ALKSTORE_JOB_COLUMNS
                    ", died_at, " ALKSTORE_PAYLOAD
                    " FROM alkstore_dead WHERE id = ?1");
  if (!row.bind(id).step())
    throw failure{errc::not_found, "job " + std::to_string(id)
                                     + ": no live job and no dead letter"};
  auto found = read_job(row);
  found.state = job_state::dead;
  found.died_at = row.time(after_job_columns);
  found.payload = row.bytes(after_job_columns + 1);
  return found;
}

std::vector<job> list(transaction& tx, const std::optional<queue_name>& queue,
                      int64_t after, int max) {
  std::vector<job> out;
  // Two texts, so that the index on the queue serves the first.
  auto rows = tx.sql(queue ? "SELECT " ALKSTORE_JOB_COLUMNS
                             ", died_at FROM alkstore_dead WHERE queue = ?3"
                             " AND id > ?1 ORDER BY id LIMIT ?2"
                           : "SELECT " ALKSTORE_JOB_COLUMNS
                             ", died_at FROM alkstore_dead"
                             " WHERE id > ?1 ORDER BY id LIMIT ?2");
  if (queue)
    rows.bind(after, max, queue->text());
  else
    rows.bind(after, max);
  while (rows.step()) {
    out.push_back(read_job(rows));
    out.back().state = job_state::dead;
    out.back().died_at = rows.time(after_job_columns);
  }
  return out;
}

bool requeue(transaction& tx, int64_t id) {
  {
    auto row = tx.sql("SELECT queue, dedupe_key FROM alkstore_dead"
                      " WHERE id = ?1");
    if (!row.bind(id).step())
      return false;
    if (!row.is_null(1))
      if (auto holder = dedupe::holder(tx, row.bytes(0), row.bytes(1)))
        throw failure{errc::duplicate, "dead letter " + std::to_string(id)
                                         + ": job " + std::to_string(*holder)
                                         + " holds its dedupe key"};
  }
  tx.run("INSERT INTO alkstore_jobs(" DEAD_AND_LIVE_COLUMNS
         ", run_at, at, claimed, attempts, last_error)"
         " SELECT " DEAD_AND_LIVE_COLUMNS ", ?2, ?2, 0, 0, last_error"
         " FROM alkstore_dead WHERE id = ?1",
         id, tx.now());
  tx.run("DELETE FROM alkstore_dead WHERE id = ?1", id);
  return true;
}

bool remove(transaction& tx, int64_t id) {
  if (tx.run("DELETE FROM alkstore_dead WHERE id = ?1", id) == 0)
    return false;
  tx.run("DELETE FROM alkstore_payloads WHERE job_id = ?1", id);
  return true;
}

int remove_older(transaction& tx, timestamp until, int max) {
  std::vector<int64_t> ids;
  {
    auto rows = tx.sql("SELECT id FROM alkstore_dead WHERE died_at <= ?1"
                       " ORDER BY died_at LIMIT ?2");
    rows.bind(until, max);
    while (rows.step())
      ids.push_back(rows.integer(0));
  }
  int removed = 0;
  for (auto id : ids)
    removed += remove(tx, id) ? 1 : 0;
  return removed;
}

} // namespace alkstore::dead_letters
