#include "substrate/jobs.hpp"

#include "substrate/dead_letters.hpp"
#include "substrate/dedupe.hpp"
#include "substrate/job_row.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

namespace alkstore::jobs {

namespace {

struct defaults {
  millis visibility_timeout;
  int max_attempts;
  millis backoff_base;
};

constexpr defaults plain_queue{std::chrono::seconds{300}, 3,
                               std::chrono::seconds{5}};
constexpr defaults outbox_queue{std::chrono::seconds{60}, 5,
                                std::chrono::seconds{5}};

// Far enough for anybody, and sums of a few of them never overflow.
constexpr millis longest = std::chrono::hours{24 * 365 * 1000};
constexpr timestamp latest{std::chrono::hours{24 * 365 * 10000}};

[[noreturn]] void refuse(const std::string& what) {
  throw failure{errc::invalid_argument, what};
}

void check_span(const char* name, const std::optional<millis>& span,
                millis least) {
  if (span && (*span < least || *span > longest))
    refuse(std::string{name} + " " + std::to_string(span->count())
           + " ms: it is " + std::to_string(least.count())
           + " ms to 1000 years");
}

std::array<char, 16> new_stable_id() {
  std::array<char, 16> bytes;
  for (size_t have = 0; have < bytes.size();) {
    auto got = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got > 0)
      have += static_cast<size_t>(got);
    else if (errno != EINTR)
      throw failure{errc::io_error,
                    std::string{"no random bytes: "} + std::strerror(errno)};
  }
  return bytes;
}

timestamp start_of(const job_options& options, timestamp now) {
  if (options.run_at)
    return *options.run_at;
  return now + options.delay.value_or(millis{0});
}

} // namespace

void check(const job_options& options) {
  if (options.priority && (*options.priority < -32 || *options.priority > 31))
    refuse("priority " + std::to_string(*options.priority)
           + ": it is -32 to 31");
  if (options.max_attempts && *options.max_attempts < 1)
    refuse("max_attempts " + std::to_string(*options.max_attempts)
           + ": it is at least 1");
  if (options.delay && options.run_at)
    refuse("delay and run_at: only one of them can be given");
  if (options.run_at
      && (options.run_at->time_since_epoch() < millis{0}
          || *options.run_at > latest))
    refuse("run_at: it is between 1970 and the year 11970");
  if (options.dedupe_key
      && (options.dedupe_key->empty()
          || options.dedupe_key->size() > max_name_bytes))
    refuse("dedupe_key of " + std::to_string(options.dedupe_key->size())
           + " bytes: it is 1 to 128 bytes");
  check_span("delay", options.delay, millis{0});
  check_span("expires_in", options.expires_in, millis{1});
  check_span("visibility_timeout", options.visibility_timeout, millis{1});
  check_span("backoff_base", options.backoff_base, millis{1});
}

void check_payload(const transaction& tx, std::string_view payload) {
  if (payload.size() > tx.rules().max_payload)
    throw failure{errc::payload_too_large,
                  "payload of " + std::to_string(payload.size())
                    + " bytes: the limit is "
                    + std::to_string(tx.rules().max_payload)};
}

int64_t enqueue(transaction& tx, const queue_name& queue,
                std::string_view payload, const job_options& options) {
  check(options);
  check_payload(tx, payload);
  if (options.dedupe_key)
    if (auto holder = dedupe::holder(tx, queue.text(), *options.dedupe_key))
      return *holder;
  return insert(tx, queue, payload, options);
}

int64_t insert(transaction& tx, const queue_name& queue,
               std::string_view payload, const job_options& options,
               const std::optional<firing_origin>& origin) {
  auto now = tx.now();
  auto start = start_of(options, now);
  auto& derived = queue.is_outbox() ? outbox_queue : plain_queue;
  std::optional<timestamp> expires_at;
  if (options.expires_in)
    expires_at = now + *options.expires_in;
  auto stable_id = new_stable_id();
  std::optional<blob> key;
  if (options.dedupe_key)
    key = blob{*options.dedupe_key};
  std::optional<std::string_view> schedule;
  std::optional<timestamp> fire_at;
  if (origin) {
    schedule = origin->schedule;
    fire_at = origin->fire_at;
  }
  tx.run("INSERT INTO alkstore_jobs(queue, priority, at, run_at, claimed,"
         " claim_number, attempts, max_attempts, visibility_ms, backoff_ms,"
         " enqueued_at, expires_at, stable_id, dedupe_key, schedule, fire_at)"
         " VALUES(?1, ?2, ?3, ?3, 0, 0, 0, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
         " ?12)",
         queue.text(), options.priority.value_or(0), start,
         options.max_attempts.value_or(derived.max_attempts),
         options.visibility_timeout.value_or(derived.visibility_timeout),
         options.backoff_base.value_or(derived.backoff_base), now, expires_at,
         blob{{stable_id.data(), stable_id.size()}}, key, schedule, fire_at);
  auto id = sqlite3_last_insert_rowid(tx.handle());
  tx.run("INSERT INTO alkstore_payloads VALUES(?1, ?2)", id, blob{payload});
  return id;
}

job get(transaction& tx, int64_t id) {
  auto live = tx.sql("SELECT " ALKSTORE_JOB_COLUMNS
                     ", claimed, at, " ALKSTORE_PAYLOAD
                     " FROM alkstore_jobs WHERE id = ?1");
  if (live.bind(id).step()) {
    auto found = read_job(live);
    auto claimed = live.integer(after_job_columns) != 0;
    auto at = live.time(after_job_columns + 1);
    // A claim whose deadline passed is nobody's: the job waits.
    if (claimed && tx.now() < at)
      found.state = job_state::running;
    if (claimed)
      found.claim.deadline = at;
    found.payload = live.bytes(after_job_columns + 2);
    return found;
  }
  return dead_letters::get(tx, id);
}

namespace {

// Rows of ALKSTORE_JOB_COLUMNS and whether the job runs.
std::vector<job> read_list(statement& rows) {
  std::vector<job> out;
  while (rows.step()) {
    out.push_back(read_job(rows));
    if (rows.integer(after_job_columns) != 0)
      out.back().state = job_state::running;
  }
  return out;
}

} // namespace

std::vector<job> list(transaction& tx, const queue_name& queue, int64_t after,
                      int max) {
  auto rows = tx.sql("SELECT " ALKSTORE_JOB_COLUMNS
                     ", claimed AND at > ?4 FROM alkstore_jobs"
                     " WHERE queue = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
  return read_list(rows.bind(queue.text(), after, max, tx.now()));
}

std::vector<job> list(transaction& tx, const filter& wanted) {
  std::optional<std::string_view> queue;
  if (wanted.queue)
    queue = wanted.queue->text();
  std::optional<int> state;
  if (wanted.state)
    state = static_cast<int>(*wanted.state);
  auto rows = tx.sql(
    "SELECT " ALKSTORE_JOB_COLUMNS ", claimed AND at > ?1 FROM alkstore_jobs"
    " WHERE id > ?2 AND (?3 IS NULL OR queue = ?3) AND (?4 IS NULL OR ?4 ="
    " CASE WHEN at <= ?1 THEN 0 WHEN NOT claimed THEN 1 ELSE 2 END)"
    " ORDER BY id LIMIT ?5");
  return read_list(rows.bind(tx.now(), wanted.after, queue, state, wanted.max));
}

bool cancel(transaction& tx, int64_t id) {
  if (tx.run("DELETE FROM alkstore_jobs WHERE id = ?1", id) == 0)
    return false;
  tx.run("DELETE FROM alkstore_payloads WHERE job_id = ?1", id);
  return true;
}

int sweep_expired(transaction& tx, int max) {
  struct casualty {
    int64_t id;
    bool exhausted;
  };
  std::vector<casualty> found;
  {
    auto rows = tx.sql(
      "SELECT id, 1 FROM alkstore_jobs INDEXED BY alkstore_jobs_last_attempt"
      " WHERE attempts >= max_attempts AND at <= ?1 AND claimed = 1"
      " UNION ALL SELECT id, 0 FROM alkstore_jobs"
      " INDEXED BY alkstore_jobs_expiry"
      " WHERE expires_at <= ?1 AND (claimed = 0 OR at <= ?1)"
      " AND NOT (attempts >= max_attempts AND at <= ?1 AND claimed = 1)"
      " LIMIT ?2");
    rows.bind(tx.now(), max);
    while (rows.step())
      found.push_back({rows.integer(0), rows.integer(1) != 0});
  }
  for (auto& [id, exhausted] : found)
    dead_letters::bury(
      tx, id, exhausted ? dead_letters::exhausted : dead_letters::expired);
  return static_cast<int>(found.size());
}

std::vector<queue_stats> stats(transaction& tx) {
  std::vector<queue_stats> out;
  auto rows = tx.sql(
    "SELECT queue, sum(waiting), sum(delayed), sum(running), sum(dead) FROM ("
    " SELECT queue, sum(at <= ?1) AS waiting,"
    "  sum(at > ?1 AND NOT claimed) AS delayed,"
    "  sum(at > ?1 AND claimed) AS running, 0 AS dead"
    " FROM alkstore_jobs GROUP BY queue"
    " UNION ALL SELECT queue, 0, 0, 0, count(*) FROM alkstore_dead"
    " GROUP BY queue) GROUP BY queue");
  rows.bind(tx.now());
  while (rows.step())
    out.push_back({rows.bytes(0), rows.integer(1), rows.integer(2),
                   rows.integer(3), rows.integer(4)});
  return out;
}

} // namespace alkstore::jobs

namespace alkstore {

int64_t enqueue_tx(sqlite3* db, std::string_view queue,
                   std::string_view payload, const job_options& options,
                   const store_rules& rules, const clock& time) {
  auto name = queue_name::plain(queue);
  transaction tx{db, rules, time};
  return jobs::enqueue(tx, name, payload, options);
}

} // namespace alkstore
