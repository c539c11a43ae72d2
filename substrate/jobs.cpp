#include "substrate/jobs.hpp"

#include "substrate/dead_letters.hpp"
#include "substrate/dedupe.hpp"
#include "substrate/job_row.hpp"
#include "substrate/text.hpp"

#include <sys/random.h>

#include <algorithm>
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

void fill_with_random(std::span<char> bytes) {
  while (!bytes.empty()) {
    auto got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got > 0)
      bytes = bytes.subspan(static_cast<size_t>(got));
    else if (errno != EINTR)
      throw failure{errc::io_error,
                    std::string{"no random bytes: "} + std::strerror(errno)};
  }
}

timestamp start_of(const job_options& options, timestamp now) {
  if (options.run_at)
    return *options.run_at;
  return now + options.delay.value_or(millis{0});
}

/// The texts of an INSERT of one row to rows_at_once. They stay where they are:
/// a kept statement is found by its text's address.
class insert_texts {
public:
  insert_texts(const std::string& insert, const std::string& row) {
    auto text = insert + " VALUES" + row;
    for (auto& x : texts_) {
      x = text;
      text += ", " + row;
    }
  }
  const char* of(size_t rows) const { return texts_[rows - 1].c_str(); }

private:
  std::array<std::string, rows_at_once> texts_;
};

constexpr size_t id_bytes = 16;

/// What a new job's row says of its options.
struct plan {
  plan(const new_job& x, timestamp now)
    : derived(x.queue.is_outbox() ? outbox_queue : plain_queue),
      priority(x.options.priority.value_or(0)),
      start(start_of(x.options, now)),
      max_attempts(x.options.max_attempts.value_or(derived.max_attempts)),
      visibility(
        x.options.visibility_timeout.value_or(derived.visibility_timeout)),
      backoff(x.options.backoff_base.value_or(derived.backoff_base)) {
    if (x.options.expires_in)
      expires_at = now + *x.options.expires_in;
  }

  const defaults& derived;
  int priority;
  timestamp start;
  int max_attempts;
  millis visibility;
  millis backoff;
  std::optional<timestamp> expires_at;
};

#define ALKSTORE_INSERT_JOBS                                                   \
  "INSERT INTO alkstore_jobs(queue, priority, at, run_at, claimed,"            \
  " claim_number, attempts, max_attempts, visibility_ms, backoff_ms,"          \
  " enqueued_at, expires_at, stable_id, dedupe_key, schedule, fire_at"

void bind_job(statement& row, const new_job& x, const plan& how, timestamp at,
              timestamp now, std::string_view stable_id) {
  std::optional<blob> key;
  if (x.options.dedupe_key)
    key = blob{*x.options.dedupe_key};
  std::optional<std::string_view> schedule;
  std::optional<timestamp> fire_at;
  if (x.origin) {
    schedule = x.origin->schedule;
    fire_at = x.origin->fire_at;
  }
  row.bind_next(x.queue.text(), how.priority, at, how.start, how.max_attempts,
                how.visibility, how.backoff, now, how.expires_at,
                blob{stable_id}, key, schedule, fire_at);
}

void insert_jobs(transaction& tx, std::span<const new_job> some) {
  static const insert_texts texts{
    ALKSTORE_INSERT_JOBS ")",
    "(?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  std::array<char, rows_at_once * id_bytes> random;
  fill_with_random(std::span{random}.first(some.size() * id_bytes));
  auto stable_id = random.data();
  auto row = tx.sql(texts.of(some.size()));
  for (auto& x : some) {
    plan how{x, tx.now()};
    bind_job(row, x, how, how.start, tx.now(), {stable_id, id_bytes});
    stable_id += id_bytes;
  }
  row.step();
}

void insert_payloads(transaction& tx, std::span<const new_job> some,
                     std::span<const int64_t> ids) {
  static const insert_texts texts{"INSERT INTO alkstore_payloads", "(?, ?)"};
  auto row = tx.sql(texts.of(some.size()));
  for (size_t i = 0; i < some.size(); ++i)
    row.bind_next(ids[i], blob{some[i].payload});
  row.step();
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
  new_job one{queue, payload, options};
  return enqueue(tx, {&one, 1}).front();
}

std::vector<int64_t> enqueue(transaction& tx, std::span<const new_job> wanted) {
  for (auto& x : wanted) { // refuse before the first is written
    check(x.options);
    check_payload(tx, x.payload);
  }
  std::vector<int64_t> ids;
  ids.reserve(wanted.size());
  auto keyed = [](const new_job& x) {
    return x.options.dedupe_key.has_value();
  };
  while (!wanted.empty()) {
    auto& first = wanted.front();
    if (keyed(first))
      if (auto holder = dedupe::holder(tx, first.queue.text(),
                                       *first.options.dedupe_key)) {
        ids.push_back(*holder);
        wanted = wanted.subspan(1);
        continue;
      }
    // A key is looked for once those before it are there.
    auto next = std::find_if(wanted.begin() + 1, wanted.end(), keyed);
    auto some = wanted.first(static_cast<size_t>(next - wanted.begin()));
    auto stored = insert(tx, some);
    ids.insert(ids.end(), stored.begin(), stored.end());
    wanted = wanted.subspan(some.size());
  }
  return ids;
}

std::vector<int64_t> insert(transaction& tx, std::span<const new_job> wanted) {
  std::vector<int64_t> ids;
  ids.reserve(wanted.size());
  while (!wanted.empty()) {
    auto some = wanted.first(std::min(wanted.size(), rows_at_once));
    insert_jobs(tx, some);
    // One statement's ids follow one another: nobody else can take one.
    auto last = sqlite3_last_insert_rowid(tx.handle());
    for (auto left = static_cast<int64_t>(some.size()); left > 0; --left)
      ids.push_back(last - left + 1);
    insert_payloads(tx, some, std::span{ids}.last(some.size()));
    wanted = wanted.subspan(some.size());
  }
  return ids;
}

std::optional<job> insert_claimed(transaction& tx, const new_job& wanted,
                                  std::string_view worker) {
  plan how{wanted, tx.now()};
  if (how.start > tx.now() || wanted.options.dedupe_key
      || how.max_attempts == 1)
    return std::nullopt;
  std::array<char, id_bytes> stable_id;
  fill_with_random(stable_id);
  job out;
  out.queue = wanted.queue.text();
  out.stable_id = to_hex({stable_id.data(), id_bytes});
  out.state = job_state::running;
  out.priority = how.priority;
  out.attempts = 1;
  out.max_attempts = how.max_attempts;
  out.visibility_timeout = how.visibility;
  out.backoff_base = how.backoff;
  out.enqueued_at = tx.now();
  out.run_at = how.start;
  out.expires_at = how.expires_at;
  out.worker = worker;
  out.claim = {0, 1, tx.now() + how.visibility};
  {
    auto row = tx.sql(
      ALKSTORE_INSERT_JOBS
      ", worker) VALUES(?, ?, ?, ?, 1, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bind_job(row, wanted, how, out.claim.deadline, tx.now(),
             {stable_id.data(), id_bytes});
    row.bind_next(worker).step();
  }
  out.id = out.claim.job = sqlite3_last_insert_rowid(tx.handle());
  insert_payloads(tx, {&wanted, 1}, {&out.id, 1});
  return out;
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
