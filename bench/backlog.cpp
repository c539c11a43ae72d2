#include "bench/backlog.hpp"

namespace alkstore::bench {

void add(raw_store& to, const backlog& rows) {
  auto number = [](int64_t x) { return std::to_string(x); };
  auto now = number(wall_ms());
  auto at = number(wall_ms() + rows.due_in_ms);
  auto queue = '\'' + rows.queue + '\'';
  if (rows.queues > 1)
    queue += " || (i % " + number(rows.queues) + ")";
  auto last = to.integer("SELECT ifnull(max(id), 0) FROM alkstore_jobs");
  to.execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN");
  to.execute(
    "INSERT INTO alkstore_jobs(queue, priority, at, run_at, claimed,"
    " claim_number, attempts, max_attempts, visibility_ms, backoff_ms,"
    " enqueued_at, stable_id) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL"
    " SELECT i + 1 FROM n WHERE i + 1 < "
    + number(rows.count)
    + ")"
      " SELECT "
    + queue + ", " + number(rows.top_priority) + " - i % "
    + number(rows.priorities) + ", " + at + ", " + at + ", "
    + (rows.claimed ? "1, 1, 1" : "0, 0, 0") + ", 3, 300000, 5000, " + now
    + ", randomblob(16) FROM n");
  to.execute("INSERT INTO alkstore_payloads SELECT id, zeroblob(100)"
             " FROM alkstore_jobs WHERE id > "
             + number(last));
  to.execute("COMMIT; PRAGMA cache_size = -2000; PRAGMA synchronous = FULL;"
             " PRAGMA wal_checkpoint(TRUNCATE)");
}

} // namespace alkstore::bench
