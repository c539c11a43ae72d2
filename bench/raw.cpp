#include "bench/raw.hpp"

#include <sys/random.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace alkstore::bench {

namespace {

constexpr int checkpoint_pages = 1000; // as the product's writer

// As long as the product's: host, process, random bits.
constexpr std::string_view worker = "raw-worker:12345:1234567890123456789";

// Not "bind": for an std::string that would be std::bind, which does nothing.
void bind_text(sqlite3_stmt* stmt, int index, std::string_view text) {
  sqlite3_bind_text64(stmt, index, text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

std::string_view text(sqlite3_stmt* stmt, int column) {
  auto data = static_cast<const char*>(sqlite3_column_blob(stmt, column));
  return {data ? data : "",
          static_cast<size_t>(sqlite3_column_bytes(stmt, column))};
}

} // namespace

int64_t wall_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch())
    .count();
}

raw_store::raw_store(const std::string& path, durability sync)
  : checkpoint_at_(checkpoint_pages) {
  {
    connection makes_the_tables{path, {}};
  }
  sqlite3* db = nullptr;
  auto rc = sqlite3_open_v2(
    path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  check(rc);
  sqlite3_busy_timeout(db, 5000);
  execute("PRAGMA journal_mode = WAL");
  execute(sync == durability::full ? "PRAGMA synchronous = FULL"
                                   : "PRAGMA synchronous = NORMAL");
  execute("PRAGMA secure_delete = OFF");
  execute("PRAGMA wal_autocheckpoint = 0");
  sqlite3_wal_hook(db, on_wal_commit, this);
  begin_ = prepare("BEGIN IMMEDIATE");
  commit_ = prepare("COMMIT");
  insert_ = prepare(
    "INSERT INTO alkstore_jobs(queue, priority, at, run_at, claimed,"
    " claim_number, attempts, max_attempts, visibility_ms, backoff_ms,"
    " enqueued_at, stable_id, schedule, fire_at)"
    " VALUES(?1, 0, ?2, ?2, 0, 0, 0, 3, 300000, 5000, ?2, ?3, ?4, ?5)");
  payload_ = prepare("INSERT INTO alkstore_payloads VALUES(?1, ?2)");
  top_ = prepare("SELECT priority FROM alkstore_jobs WHERE queue = ?1"
                 " AND priority < 32 ORDER BY priority DESC LIMIT 1");
  due_ = prepare(
    "SELECT id, claim_number, attempts, visibility_ms, stable_id,"
    " (SELECT payload FROM alkstore_payloads WHERE job_id = id)"
    " FROM alkstore_jobs WHERE queue = ?1 AND priority = ?2 AND at <= ?3"
    " ORDER BY at, id LIMIT ?4");
  take_ = prepare("UPDATE alkstore_jobs SET claimed = 1, at = ?2,"
                  " claim_number = ?3, attempts = ?4, worker = ?5"
                  " WHERE id = ?1");
  bind_text(take_.get(), 5, worker);
  ack_ = prepare("DELETE FROM alkstore_jobs WHERE id = ?1"
                 " AND claim_number = ?2 AND claimed = 1 AND at > ?3");
  drop_ = prepare("DELETE FROM alkstore_payloads WHERE job_id = ?1");
  schedules_ = prepare(
    "SELECT name, queue, payload, interval_ms, next_fire_at"
    " FROM alkstore_schedules WHERE paused = 0 AND next_fire_at <= ?1"
    " ORDER BY next_fire_at");
  move_ = prepare("UPDATE alkstore_schedules SET next_fire_at = ?2"
                  " WHERE name = ?1");
}

void raw_store::begin() {
  run(begin_);
  now_ = wall_ms();
}

void raw_store::commit() {
  run(commit_);
  if (wal_pages_ < checkpoint_at_)
    return;
  int in_wal = 0, copied = 0;
  check(sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                  &in_wal, &copied));
  wal_pages_ = in_wal - copied;
  checkpoint_at_ = wal_pages_ + checkpoint_pages;
}

void raw_store::enqueue(std::string_view queue, std::string_view payload) {
  insert(queue, payload, {}, 0);
}

void raw_store::insert(std::string_view queue, std::string_view payload,
                       std::string_view schedule, int64_t fire_at) {
  std::array<char, 16> stable_id;
  if (::getrandom(stable_id.data(), stable_id.size(), 0) < 0)
    check(SQLITE_IOERR);
  bind_text(insert_.get(), 1, queue);
  sqlite3_bind_int64(insert_.get(), 2, now_);
  sqlite3_bind_blob(insert_.get(), 3, stable_id.data(), stable_id.size(),
                    SQLITE_STATIC);
  if (schedule.empty()) {
    sqlite3_bind_null(insert_.get(), 4);
    sqlite3_bind_null(insert_.get(), 5);
  } else {
    bind_text(insert_.get(), 4, schedule);
    sqlite3_bind_int64(insert_.get(), 5, fire_at);
  }
  run(insert_);
  sqlite3_bind_int64(payload_.get(), 1, sqlite3_last_insert_rowid(db_.get()));
  sqlite3_bind_blob64(payload_.get(), 2, payload.data(), payload.size(),
                      SQLITE_STATIC);
  run(payload_);
}

int raw_store::claim(std::string_view queue, int max) {
  bind_text(top_.get(), 1, queue);
  auto found = sqlite3_step(top_.get()) == SQLITE_ROW;
  auto priority = found ? sqlite3_column_int64(top_.get(), 0) : 0;
  sqlite3_reset(top_.get());
  if (!found)
    return 0;
  bind_text(due_.get(), 1, queue);
  sqlite3_bind_int64(due_.get(), 2, priority);
  sqlite3_bind_int64(due_.get(), 3, now_);
  sqlite3_bind_int(due_.get(), 4, max);
  auto before = claimed_.size();
  while (sqlite3_step(due_.get()) == SQLITE_ROW) {
    claimed_.push_back({sqlite3_column_int64(due_.get(), 0),
                        sqlite3_column_int64(due_.get(), 1) + 1,
                        sqlite3_column_int64(due_.get(), 2) + 1,
                        sqlite3_column_int64(due_.get(), 3)});
    bytes_read_ += text(due_.get(), 4).size() + text(due_.get(), 5).size();
  }
  check(sqlite3_reset(due_.get()));
  for (auto i = before; i < claimed_.size(); ++i) {
    auto& x = claimed_[i];
    sqlite3_bind_int64(take_.get(), 1, x.id);
    sqlite3_bind_int64(take_.get(), 2, now_ + x.visibility_ms);
    sqlite3_bind_int64(take_.get(), 3, x.number);
    sqlite3_bind_int64(take_.get(), 4, x.attempts);
    change_one(take_);
  }
  return static_cast<int>(claimed_.size() - before);
}

void raw_store::ack_claimed() {
  for (auto& x : claimed_) {
    sqlite3_bind_int64(ack_.get(), 1, x.id);
    sqlite3_bind_int64(ack_.get(), 2, x.number);
    sqlite3_bind_int64(ack_.get(), 3, now_);
    change_one(ack_);
    sqlite3_bind_int64(drop_.get(), 1, x.id);
    change_one(drop_);
  }
  claimed_.clear();
}

int raw_store::tick() {
  struct due_schedule {
    std::string name, queue, payload;
    int64_t interval, next;
  };
  std::vector<due_schedule> due; // moving one while walking would meet it again
  sqlite3_bind_int64(schedules_.get(), 1, now_);
  while (sqlite3_step(schedules_.get()) == SQLITE_ROW)
    due.push_back({std::string{text(schedules_.get(), 0)},
                   std::string{text(schedules_.get(), 1)},
                   std::string{text(schedules_.get(), 2)},
                   sqlite3_column_int64(schedules_.get(), 3),
                   sqlite3_column_int64(schedules_.get(), 4)});
  check(sqlite3_reset(schedules_.get()));
  for (auto& x : due) {
    insert(x.queue, x.payload, x.name, x.next);
    bind_text(move_.get(), 1, x.name);
    sqlite3_bind_int64(move_.get(), 2, x.next + x.interval);
    change_one(move_);
  }
  return static_cast<int>(due.size());
}

void raw_store::execute(const std::string& sql) {
  check(sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

int64_t raw_store::integer(const std::string& sql) {
  auto stmt = prepare(sql.c_str());
  return sqlite3_step(stmt.get()) == SQLITE_ROW
           ? sqlite3_column_int64(stmt.get(), 0)
           : 0;
}

raw_store::prepared raw_store::prepare(const char* sql) {
  sqlite3_stmt* stmt = nullptr;
  check(sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt,
                           nullptr));
  return prepared{stmt};
}

void raw_store::run(prepared& stmt) {
  if (sqlite3_step(stmt.get()) != SQLITE_DONE)
    check(sqlite3_errcode(db_.get()));
  sqlite3_reset(stmt.get());
}

// A baseline that misses its row would be a fast one.
void raw_store::change_one(prepared& stmt) {
  run(stmt);
  if (sqlite3_changes(db_.get()) == 1)
    return;
  std::fprintf(stderr, "raw: no row changed: %s\n", sqlite3_sql(stmt.get()));
  std::exit(EXIT_FAILURE);
}

void raw_store::check(int rc) {
  if (rc == SQLITE_OK)
    return;
  std::fprintf(stderr, "raw: %s\n", sqlite3_errmsg(db_.get()));
  std::exit(EXIT_FAILURE);
}

int raw_store::on_wal_commit(void* self, sqlite3*, const char*, int pages) {
  static_cast<raw_store*>(self)->wal_pages_ = pages;
  return SQLITE_OK;
}

} // namespace alkstore::bench
