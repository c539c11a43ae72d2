#include "substrate/schedules.hpp"

#include "substrate/spec.hpp"

#include <algorithm>
#include <span>

#define SCHEDULE_COLUMNS                                                       \
  "name, spec, queue, payload, priority, expires_in_ms, max_attempts, "        \
  "visibility_ms, backoff_ms, next_fire_at, paused"

namespace alkstore::schedules {

namespace {

std::optional<millis> maybe_millis(const statement& row, int column) {
  if (row.is_null(column))
    return std::nullopt;
  return millis{row.integer(column)};
}

std::optional<int> maybe_int(const statement& row, int column) {
  if (row.is_null(column))
    return std::nullopt;
  return static_cast<int>(row.integer(column));
}

schedule read_schedule(const statement& row) {
  schedule out;
  out.name = row.bytes(0);
  out.spec = row.bytes(1);
  out.queue = row.bytes(2);
  out.payload = row.bytes(3);
  out.options.priority = maybe_int(row, 4);
  out.options.expires_in = maybe_millis(row, 5);
  out.options.max_attempts = maybe_int(row, 6);
  out.options.visibility_timeout = maybe_millis(row, 7);
  out.options.backoff_base = maybe_millis(row, 8);
  out.next_fire_at = row.time(9);
  out.paused = row.integer(10) != 0;
  return out;
}

// Each refusal comes before anything is written.
millis check(transaction& tx, const schedule_request& wanted) {
  check_name("schedule", wanted.name);
  queue_name::plain(wanted.queue);
  jobs::check(wanted.options);
  if (wanted.options.delay || wanted.options.run_at
      || wanted.options.dedupe_key)
    throw failure{errc::invalid_argument,
                  "schedule " + wanted.name
                    + ": delay, run_at and dedupe_key are no options of a "
                      "schedule"};
  jobs::check_payload(tx, wanted.payload);
  return parse_spec(wanted.spec);
}

struct due_schedule {
  schedule what;
  millis interval;
  int64_t count = 0; ///< boundaries that have passed, one at least
  timestamp next{};  ///< the first that has not
};

// Some at once, which costs less than a search for each; few, since each may
// hold a large payload.
std::vector<due_schedule> next_due(transaction& tx) {
  std::vector<due_schedule> out;
  auto rows = tx.sql("SELECT " SCHEDULE_COLUMNS
                     ", interval_ms FROM alkstore_schedules"
                     " INDEXED BY alkstore_schedules_due"
                     " WHERE paused = 0 AND next_fire_at <= ?1"
                     " ORDER BY next_fire_at LIMIT 16");
  rows.bind(tx.now());
  while (rows.step()) {
    out.push_back({read_schedule(rows), millis{rows.integer(11)}});
    auto& due = out.back();
    // Nobody registers such a one, and the grid's arithmetic needs both.
    if (due.interval <= millis{0} || due.what.next_fire_at < timestamp{})
      throw failure{errc::corrupt,
                    "schedule " + due.what.name
                      + ": its interval or its next boundary is damaged"};
    auto step = first_after(due.what.next_fire_at, due.interval, tx.now());
    due.count = step.passed + 1; // next_fire_at itself is due, too
    due.next = step.next;
  }
  return out;
}

// How many of them to fire at once: up to the one that passes a bound. Few
// jobs, so that a tick ends soon after its time is over.
size_t fitting(std::span<const due_schedule> due, int64_t room) {
  size_t schedules = 0;
  int64_t jobs = 0;
  for (; schedules < due.size() && jobs < std::min(room, catch_up_cap);
       ++schedules)
    jobs += std::min(due[schedules].count, catch_up_cap);
  return schedules;
}

// One job a boundary; then the schedules wait for their next ones.
void fire(transaction& tx, std::span<const due_schedule> due,
          tick_report& report) {
  std::vector<queue_name> queues;
  queues.reserve(due.size());
  std::vector<jobs::new_job> wanted;
  auto before = report.fired.size();
  for (auto& [x, interval, count, next] : due) {
    auto& queue = queues.emplace_back(queue_name::plain(x.queue));
    for (int64_t i = 0; i < std::min(count, catch_up_cap); ++i) {
      auto fire_at = x.next_fire_at + i * interval;
      wanted.push_back(
        {queue, x.payload, x.options, firing_origin{x.name, fire_at}});
      report.fired.push_back({x.name, x.queue, 0, fire_at});
    }
    if (count > catch_up_cap)
      report.skipped.push_back({x.name, count - catch_up_cap});
  }
  for (auto id : jobs::insert(tx, wanted))
    report.fired[before++].job = id;
  for (auto& x : due) {
    tx.run("UPDATE alkstore_schedules SET next_fire_at = ?2 WHERE name = ?1",
           x.what.name, x.next);
    tx.require_changed(1);
  }
}

} // namespace

schedule add(transaction& tx, const schedule_request& wanted) {
  auto interval = check(tx, wanted);
  auto next = first_after(tx.now(), interval, tx.now()).next;
  auto& options = wanted.options;
  tx.run("INSERT INTO alkstore_schedules(" SCHEDULE_COLUMNS ", interval_ms)"
         " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11)"
         " ON CONFLICT(name) DO UPDATE SET spec = ?2, queue = ?3,"
         " payload = ?4, priority = ?5, expires_in_ms = ?6, max_attempts = ?7,"
         " visibility_ms = ?8, backoff_ms = ?9, interval_ms = ?11,"
         " next_fire_at = CASE interval_ms WHEN ?11 THEN next_fire_at"
         " ELSE ?10 END",
         wanted.name, wanted.spec, wanted.queue, blob{wanted.payload},
         options.priority, options.expires_in, options.max_attempts,
         options.visibility_timeout, options.backoff_base, next, interval);
  return get(tx, wanted.name);
}

bool remove(transaction& tx, std::string_view name) {
  check_name("schedule", name);
  return tx.run("DELETE FROM alkstore_schedules WHERE name = ?1", name) > 0;
}

bool pause(transaction& tx, std::string_view name) {
  if (get(tx, name).paused)
    return false;
  tx.run("UPDATE alkstore_schedules SET paused = 1 WHERE name = ?1", name);
  return true;
}

bool resume(transaction& tx, std::string_view name) {
  auto found = get(tx, name);
  if (!found.paused)
    return false;
  auto next = found.next_fire_at;
  if (next <= tx.now())
    next = first_after(next, parse_spec(found.spec), tx.now()).next;
  tx.run("UPDATE alkstore_schedules SET paused = 0, next_fire_at = ?2"
         " WHERE name = ?1",
         name, next);
  return true;
}

schedule get(transaction& tx, std::string_view name) {
  check_name("schedule", name);
  auto row = tx.sql("SELECT " SCHEDULE_COLUMNS
                    " FROM alkstore_schedules WHERE name = ?1");
  if (!row.bind(name).step())
    throw failure{errc::not_found,
                  "schedule " + std::string{name} + ": there is none"};
  return read_schedule(row);
}

std::vector<schedule> list(transaction& tx) {
  std::vector<schedule> out;
  auto rows = tx.sql("SELECT " SCHEDULE_COLUMNS
                     " FROM alkstore_schedules ORDER BY name");
  while (rows.step())
    out.push_back(read_schedule(rows));
  return out;
}

tick_report tick(transaction& tx, const lease& leadership,
                 const tick_bounds& bounds) {
  if (!leases::holds(tx, leadership))
    throw failure{errc::leadership_lost,
                  "lease " + leadership.name + ", token "
                    + std::to_string(leadership.token)
                    + ": its deadline passed or another leads"};
  tick_report report;
  report.now = tx.now();
  auto give_way = tx.time().steady_now() + bounds.time;
  auto room = [&] { return bounds.jobs - std::ssize(report.fired); };
  while (room() > 0 && tx.time().steady_now() <= give_way) {
    auto due = next_due(tx);
    if (due.empty())
      break;
    fire(tx, std::span{due}.first(fitting(due, room())), report);
  }
  report.soonest = soonest(tx);
  return report;
}

std::optional<timestamp> soonest(transaction& tx) {
  auto row = tx.sql("SELECT next_fire_at FROM alkstore_schedules"
                    " INDEXED BY alkstore_schedules_due"
                    " WHERE paused = 0 ORDER BY next_fire_at LIMIT 1");
  if (!row.step())
    return std::nullopt;
  return row.time(0);
}

} // namespace alkstore::schedules
