#include "substrate/dedupe.hpp"

#include "substrate/dead_letters.hpp"

namespace alkstore::dedupe {

std::optional<int64_t> holder(transaction& tx, const std::string& queue,
                              std::string_view key) {
  auto now = tx.now();
  {
    auto live = tx.sql(
      "SELECT id, claimed AND at > ?3, attempts >= max_attempts,"
      " ifnull(expires_at <= ?3, 0)"
      " FROM alkstore_jobs WHERE queue = ?1 AND dedupe_key = ?2");
    if (live.bind(queue, blob{key}, now).step()) {
      auto id = live.integer(0);
      auto running = live.integer(1) != 0;
      auto exhausted = live.integer(2) != 0;
      auto expired = live.integer(3) != 0;
      if (running || (!exhausted && !expired))
        return id;
      live.reset();
      dead_letters::bury(
        tx, id, exhausted ? dead_letters::exhausted : dead_letters::expired);
      return std::nullopt;
    }
  }
  auto mark = tx.sql("SELECT job_id FROM alkstore_dedupe"
                     " WHERE queue = ?1 AND key = ?2 AND until > ?3");
  if (mark.bind(queue, blob{key}, now).step())
    return mark.integer(0);
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
