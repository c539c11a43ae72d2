#include "substrate/dedupe.hpp"

#include "substrate/dead_letters.hpp"

namespace alkstore::dedupe {

std::optional<int64_t> holder(transaction& tx, const std::string& queue,
                              std::string_view key) {
  auto now = tx.now();
  std::optional<int64_t> past;
  auto exhausted = false;
  {
    auto live = tx.sql(
      "SELECT id, claimed AND at > ?3, attempts >= max_attempts,"
      " ifnull(expires_at <= ?3, 0)"
      " FROM alkstore_jobs WHERE queue = ?1 AND dedupe_key = ?2");
    if (live.bind(queue, blob{key}, now).step()) {
      auto running = live.integer(1) != 0;
      auto expired = live.integer(3) != 0;
      exhausted = live.integer(2) != 0;
      past = live.integer(0);
      if (running || (!exhausted && !expired))
        return past;
    }
  }
  // Before any change: a refusal leaves nothing. Beside a live job there can be
  // a mark only after the clock went back.
  auto mark = tx.sql("SELECT job_id FROM alkstore_dedupe"
                     " WHERE queue = ?1 AND key = ?2 AND until > ?3");
  if (mark.bind(queue, blob{key}, now).step())
    return mark.integer(0);
  if (past)
    dead_letters::bury(
      tx, *past, exhausted ? dead_letters::exhausted : dead_letters::expired);
  return std::nullopt;
}

void mark(transaction& tx, int64_t job) {
  tx.run("INSERT OR REPLACE INTO alkstore_dedupe(queue, key, job_id, until)"
         " SELECT queue, dedupe_key, id, ?2 FROM alkstore_jobs"
         " WHERE id = ?1 AND dedupe_key IS NOT NULL",
         job, tx.now() + tx.rules().dedupe_for);
}

int forget_lapsed(transaction& tx, int max) {
  return tx.run("DELETE FROM alkstore_dedupe WHERE (queue, key) IN"
                " (SELECT queue, key FROM alkstore_dedupe WHERE until <= ?1"
                " ORDER BY until LIMIT ?2)",
                tx.now(), max);
}

} // namespace alkstore::dedupe
