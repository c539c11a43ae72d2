#include "tests/simulation/snapshot.hpp"

#include <stdexcept>

namespace alkstore::sim {

namespace {

std::optional<int64_t> maybe(const statement& row, int column) {
  if (row.is_null(column))
    return std::nullopt;
  return row.integer(column);
}

#define SIM_COLUMNS                                                            \
  "j.queue, worker, dedupe_key, schedule, payload, hex(stable_id), "           \
  "last_error, priority, run_at, claim_number, attempts, max_attempts, "       \
  "visibility_ms, expires_at, fire_at"

job_row read_row(const statement& row, int64_t id) {
  if (row.is_null(4))
    throw std::runtime_error{"job " + std::to_string(id)
                             + " has lost its payload"};
  job_row out;
  out.queue = row.bytes(0);
  out.worker = row.bytes(1);
  out.key = row.bytes(2);
  out.schedule = row.bytes(3);
  out.payload = row.bytes(4);
  out.stable_id = row.bytes(5);
  out.last_error = row.bytes(6);
  out.priority = static_cast<int>(row.integer(7));
  out.run_at = row.integer(8);
  out.claim_number = row.integer(9);
  out.attempts = static_cast<int>(row.integer(10));
  out.max_attempts = static_cast<int>(row.integer(11));
  out.visibility = row.integer(12);
  out.expires_at = maybe(row, 13);
  out.fire_at = row.integer(14);
  out.at = row.integer(15);
  out.claimed = row.integer(16) != 0;
  out.dead = row.integer(17) != 0;
  return out;
}

} // namespace

file_reader::file_reader(const std::string& path) {
  if (auto rc = sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE,
                                nullptr))
    throw sqlite_failure(db_, rc, "opening for the oracle");
  // The last one that closes writes the WAL back: that is for the nodes.
  sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

file_reader::~file_reader() {
  for (auto& [text, x] : kept_)
    sqlite3_finalize(x.first);
  sqlite3_close(db_);
}

statement file_reader::sql(const char* text) {
  auto& [stmt, lent] = kept_[text];
  if (!stmt)
    if (auto rc = sqlite3_prepare_v3(db_, text, -1, SQLITE_PREPARE_PERSISTENT,
                                     &stmt, nullptr))
      throw sqlite_failure(db_, rc, text);
  return {db_, stmt, lent};
}

snapshot file_reader::read_all() {
  snapshot out;
  sql("BEGIN").step();
  std::vector<int64_t> ids;
  {
    auto rows = sql("SELECT id FROM alkstore_jobs UNION SELECT id FROM"
                    " alkstore_dead UNION SELECT job_id FROM"
                    " alkstore_payloads");
    while (rows.step())
      ids.push_back(rows.integer(0));
  }
  for (auto id : ids)
    read_job(id, out);
  read_small_tables(out);
  sql("COMMIT").step();
  return out;
}

snapshot file_reader::read_again(snapshot& state,
                                 const std::vector<int64_t>& jobs) {
  snapshot before;
  before.leases = std::exchange(state.leases, {});
  before.schedules = std::exchange(state.schedules, {});
  before.marks = std::exchange(state.marks, {});
  sql("BEGIN").step();
  for (auto id : jobs) {
    if (auto node = state.jobs.extract(id))
      before.jobs.insert(std::move(node));
    read_job(id, state);
  }
  read_small_tables(state);
  sql("COMMIT").step();
  return before;
}

void file_reader::read_job(int64_t id, snapshot& into) {
  auto rows = sql("SELECT " SIM_COLUMNS ", at, claimed, 0 FROM alkstore_jobs j"
                  " LEFT JOIN alkstore_payloads ON job_id = id WHERE id = ?1"
                  " UNION ALL SELECT " SIM_COLUMNS
                  ", died_at, 0, 1 FROM alkstore_dead j"
                  " LEFT JOIN alkstore_payloads ON job_id = id WHERE id = ?1");
  rows.bind(id);
  into.jobs.erase(id);
  while (rows.step())
    if (!into.jobs.emplace(id, read_row(rows, id)).second)
      throw std::runtime_error{"job " + std::to_string(id)
                               + " is both live and a dead letter"};
  if (into.jobs.count(id) != 0)
    return;
  auto orphan = sql("SELECT 1 FROM alkstore_payloads WHERE job_id = ?1");
  if (orphan.bind(id).step())
    throw std::runtime_error{"the payload of job " + std::to_string(id)
                             + " has outlived it"};
}

void file_reader::read_small_tables(snapshot& into) {
  auto leases = sql("SELECT name, owner, token, renewals, ttl_ms, expires_at"
                    " FROM alkstore_locks");
  while (leases.step())
    into.leases[leases.bytes(0)] = {leases.bytes(1), leases.integer(2),
                                    leases.integer(3), leases.integer(4),
                                    leases.integer(5)};
  auto schedules = sql("SELECT name, queue, interval_ms, next_fire_at, paused"
                       " FROM alkstore_schedules");
  while (schedules.step())
    into.schedules[schedules.bytes(0)] = {
      schedules.bytes(1), schedules.integer(2), schedules.integer(3),
      schedules.integer(4) != 0};
  auto marks = sql("SELECT queue, key, job_id, until FROM alkstore_dedupe");
  while (marks.step())
    into.marks[{marks.bytes(0), marks.bytes(1)}] = {marks.integer(2),
                                                    marks.integer(3)};
}

} // namespace alkstore::sim
