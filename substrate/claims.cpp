#include "substrate/claims.hpp"

#include "substrate/dead_letters.hpp"
#include "substrate/dedupe.hpp"
#include "substrate/job_row.hpp"
#include "substrate/text.hpp"

#include <algorithm>
#include <span>

// Named, because an ANALYZE of the application's at a bad moment (one queue,
// one priority) makes SQLite 3.46 scan the table instead.
#define ALKSTORE_QUEUED "alkstore_jobs INDEXED BY alkstore_jobs_claim"

namespace alkstore::claims {

namespace {

// Burials are writes too: a queue full of expired jobs must not make one claim
// a transaction without end. What is left comes with the next claim.
constexpr int max_burials = 500;

// Above the highest priority, where the walk begins.
constexpr int64_t above_all = 32;

// The next priority below `last` that the queue has: one seek in the index. A
// damaged index can answer one that is not below, and the walk would never end.
std::optional<int64_t> next_priority(transaction& tx, const queue_name& queue,
                                     int64_t last) {
  auto row = tx.sql("SELECT priority FROM " ALKSTORE_QUEUED
                    " WHERE queue = ?1 AND priority < ?2"
                    " ORDER BY priority DESC LIMIT 1");
  if (!row.bind(queue.text(), last).step())
    return std::nullopt;
  auto found = row.integer(0);
  if (found >= last)
    throw failure{errc::corrupt, "the index of jobs is out of order"};
  return found;
}

std::vector<job> due(transaction& tx, const queue_name& queue, int64_t priority,
                     int max) {
  std::vector<job> out;
  auto rows = tx.sql("SELECT " ALKSTORE_CLAIMABLE_COLUMNS ", " ALKSTORE_PAYLOAD
                     " FROM " ALKSTORE_QUEUED
                     " WHERE queue = ?1 AND priority = ?2 AND at <= ?3"
                     " ORDER BY at, id LIMIT ?4");
  rows.bind(queue.text(), priority, tx.now(), max);
  while (rows.step()) {
    auto& found = out.emplace_back(read_claimable(rows));
    found.queue = queue.text();
    found.priority = static_cast<int>(priority);
    found.payload = rows.bytes(after_claimable_columns);
  }
  return out;
}

// Why a due job cannot be claimed any more; empty if it can.
std::string_view cause_of_death(const job& found, timestamp now) {
  if (found.attempts >= found.max_attempts)
    return dead_letters::exhausted;
  if (found.expires_at && now >= *found.expires_at)
    return dead_letters::expired;
  return {};
}

// How many of the first have ids that follow one another. Neighbours are
// changed by one statement, which costs a quarter less (a claim) or a third (an
// ack).
size_t neighbours(std::span<const job> found) {
  size_t n = 1;
  while (n < found.size() && follows(found[n - 1].id, found[n].id))
    ++n;
  return n;
}

void take(transaction& tx, std::span<job> found, std::string_view worker) {
  for (auto& x : found) {
    x.state = job_state::running;
    x.attempts += 1;
    x.worker = worker;
    x.claim.number += 1;
    x.claim.deadline = tx.now() + x.visibility_timeout;
  }
  while (!found.empty()) {
    auto some = found.first(neighbours(found));
    tx.run("UPDATE alkstore_jobs SET claimed = 1, at = ?1 + visibility_ms,"
           " claim_number = claim_number + 1, attempts = attempts + 1,"
           " worker = ?2 WHERE id BETWEEN ?3 AND ?4",
           tx.now(), worker, some.front().id, some.back().id);
    tx.require_changed(some.size());
    found = found.subspan(some.size());
  }
}

// The part of a claimed row that decides what becomes of it.
struct held_job {
  int attempts;
  int max_attempts;
  millis backoff_base;
  std::optional<timestamp> expires_at;
};

[[noreturn]] void lost(const claim_handle& handle) {
  throw failure{errc::claim_lost,
                "job " + std::to_string(handle.job) + ", claim "
                  + std::to_string(handle.number)
                  + ": its deadline passed, or the job was settled, cancelled "
                    "or claimed anew"};
}

held_job require_held(transaction& tx, const claim_handle& handle) {
  auto row = tx.sql(
    "SELECT attempts, max_attempts, backoff_ms, expires_at FROM alkstore_jobs"
    " WHERE id = ?1 AND claim_number = ?2 AND claimed = 1 AND at > ?3");
  if (!row.bind(handle.job, handle.number, tx.now()).step())
    lost(handle);
  return {static_cast<int>(row.integer(0)), static_cast<int>(row.integer(1)),
          millis{row.integer(2)}, row.maybe_time(3)};
}

} // namespace

std::vector<job> claim(transaction& tx, const queue_name& queue,
                       std::string_view worker, int max, int startable) {
  std::vector<job> out;
  bool stop = false;
  auto wanted = [&] { return max - static_cast<int>(out.size()); };
  int burials = 0;
  auto priority = next_priority(tx, queue, above_all);
  while (priority && wanted() > 0 && !stop) {
    auto asked = wanted();
    auto found = due(tx, queue, *priority, asked);
    auto taken = out.size();
    out.reserve(taken + found.size());
    for (auto& x : found) {
      if (auto cause = cause_of_death(x, tx.now()); !cause.empty()) {
        dead_letters::bury(tx, x.id, cause);
        stop = ++burials == max_burials;
        if (stop)
          break;
        continue;
      }
      auto last_attempt = x.attempts + 1 >= x.max_attempts;
      stop = last_attempt && static_cast<int>(out.size()) >= startable;
      if (stop)
        break; // it keeps its place: nothing overtakes it
      out.push_back(std::move(x));
    }
    take(tx, std::span{out}.subspan(taken), worker);
    if (static_cast<int>(found.size()) < asked)
      priority = next_priority(tx, queue, *priority);
  }
  return out;
}

void ack(transaction& tx, const claim_handle& handle) {
  constexpr auto without_key =
    "DELETE FROM alkstore_jobs WHERE id = ?1 AND claim_number = ?2"
    " AND claimed = 1 AND at > ?3 AND dedupe_key IS NULL";
  if (tx.run(without_key, handle.job, handle.number, tx.now()) == 0) {
    require_held(tx, handle);
    dedupe::mark(tx, handle.job);
    tx.run("DELETE FROM alkstore_jobs WHERE id = ?1", handle.job);
  }
  tx.run("DELETE FROM alkstore_payloads WHERE job_id = ?1", handle.job);
}

bool ack_neighbours(transaction& tx, const claim_handle& first, size_t count) {
  auto last = first.job + static_cast<int64_t>(count - 1);
  {
    auto held = tx.sql(
      "SELECT count(*) FROM alkstore_jobs WHERE id BETWEEN ?1 AND ?2"
      " AND claim_number = ?3 AND claimed = 1 AND at > ?4"
      " AND dedupe_key IS NULL");
    held.bind(first.job, last, first.number, tx.now()).step();
    if (held.integer(0) != static_cast<int64_t>(count))
      return false;
  }
  tx.run("DELETE FROM alkstore_jobs WHERE id BETWEEN ?1 AND ?2", first.job,
         last);
  tx.require_changed(count);
  for (size_t i = 0; i < count; ++i)
    tx.run("DELETE FROM alkstore_payloads WHERE job_id = ?1",
           first.job + static_cast<int64_t>(i));
  return true;
}

void retry(transaction& tx, const claim_handle& handle, std::string_view error,
           std::optional<millis> delay) {
  if (delay && (*delay < millis{0} || *delay > std::chrono::hours{24 * 365}))
    throw failure{errc::invalid_argument, "retry delay "
                                            + std::to_string(delay->count())
                                            + " ms: it is 0 ms to 365 days"};
  auto held = require_held(tx, handle);
  if (held.expires_at && tx.now() >= *held.expires_at)
    return dead_letters::bury(tx, handle.job, dead_letters::expired);
  if (held.attempts >= held.max_attempts)
    return dead_letters::bury(tx, handle.job, error);
  auto backoff = retry_delay(held.backoff_base, held.attempts);
  auto text = error_text(error);
  tx.run("UPDATE alkstore_jobs SET claimed = 0, at = ?2, run_at = ?2,"
         " last_error = ?3 WHERE id = ?1",
         handle.job, tx.now() + delay.value_or(backoff), text);
}

void fail(transaction& tx, const claim_handle& handle, std::string_view error) {
  require_held(tx, handle);
  dead_letters::bury(tx, handle.job, error);
}

claim_handle heartbeat(transaction& tx, const claim_handle& handle,
                       millis extend) {
  if (extend <= millis{0} || extend > std::chrono::hours{24 * 365})
    throw failure{errc::invalid_argument, "heartbeat of "
                                            + std::to_string(extend.count())
                                            + " ms: it is 1 ms to 365 days"};
  auto row = tx.sql("UPDATE alkstore_jobs SET at = max(at, ?4) WHERE id = ?1"
                    " AND claim_number = ?2 AND claimed = 1 AND at > ?3"
                    " RETURNING at");
  row.bind(handle.job, handle.number, tx.now(), tx.now() + extend);
  if (!row.step())
    lost(handle);
  claim_handle extended{handle.job, handle.number, row.time(0)};
  row.step(); // to its end, so that the statement counts as done
  return extended;
}

void release(transaction& tx, const claim_handle& handle) {
  if (tx.run("UPDATE alkstore_jobs SET claimed = 0, at = run_at,"
             " attempts = attempts - 1 WHERE id = ?1 AND claim_number = ?2"
             " AND claimed = 1 AND at > ?3",
             handle.job, handle.number, tx.now())
      == 0)
    lost(handle);
}

std::optional<timestamp> next_claim_at(transaction& tx,
                                       const queue_name& queue) {
  std::optional<timestamp> soonest;
  for (auto priority = next_priority(tx, queue, above_all); priority;
       priority = next_priority(tx, queue, *priority)) {
    auto row = tx.sql("SELECT at FROM " ALKSTORE_QUEUED
                      " WHERE queue = ?1 AND priority = ?2"
                      " ORDER BY at LIMIT 1");
    row.bind(queue.text(), *priority);
    if (row.step() && (!soonest || row.time(0) < *soonest))
      soonest = row.time(0);
  }
  return soonest;
}

millis retry_delay(millis base, int attempt) {
  auto delay = std::min(base, max_retry_delay);
  for (int i = 1; i < attempt && delay < max_retry_delay; ++i)
    delay = std::min(delay * 2, max_retry_delay);
  return delay;
}

} // namespace alkstore::claims
