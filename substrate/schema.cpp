#include "substrate/schema.hpp"

#include "substrate/statement.hpp"

namespace alkstore {

namespace {

// `at` is the one indexed time: run_at while a job waits, the claim's deadline
// while it runs. The claim walks the priorities that exist, so neither future
// rows nor other queues cost it anything. Payloads have a table of their own:
// a claim rewrites a small row, and a dead letter leaves its payload in place.
// docs/schema.md describes every column.
constexpr const char* tables = R"sql(
CREATE TABLE IF NOT EXISTS alkstore_meta(
  key TEXT PRIMARY KEY, value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS alkstore_jobs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL,
  priority INTEGER NOT NULL,
  at INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  claimed INTEGER NOT NULL,
  claim_number INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  visibility_ms INTEGER NOT NULL,
  backoff_ms INTEGER NOT NULL,
  enqueued_at INTEGER NOT NULL,
  expires_at INTEGER,
  stable_id BLOB NOT NULL,
  worker TEXT,
  dedupe_key BLOB,
  schedule TEXT,
  fire_at INTEGER,
  last_error TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS alkstore_jobs_claim
  ON alkstore_jobs(queue, priority DESC, at);
CREATE UNIQUE INDEX IF NOT EXISTS alkstore_jobs_dedupe
  ON alkstore_jobs(queue, dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS alkstore_jobs_expiry
  ON alkstore_jobs(expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS alkstore_jobs_last_attempt
  ON alkstore_jobs(at) WHERE attempts >= max_attempts;

CREATE TABLE IF NOT EXISTS alkstore_payloads(
  job_id INTEGER PRIMARY KEY, payload BLOB NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS alkstore_dead(
  id INTEGER PRIMARY KEY,
  queue TEXT NOT NULL,
  priority INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  claim_number INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  visibility_ms INTEGER NOT NULL,
  backoff_ms INTEGER NOT NULL,
  enqueued_at INTEGER NOT NULL,
  expires_at INTEGER,
  stable_id BLOB NOT NULL,
  worker TEXT,
  dedupe_key BLOB,
  schedule TEXT,
  fire_at INTEGER,
  last_error TEXT NOT NULL,
  died_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS alkstore_dead_queue ON alkstore_dead(queue);
CREATE INDEX IF NOT EXISTS alkstore_dead_age ON alkstore_dead(died_at);

CREATE TABLE IF NOT EXISTS alkstore_dedupe(
  queue TEXT NOT NULL, key BLOB NOT NULL,
  job_id INTEGER NOT NULL, until INTEGER NOT NULL,
  PRIMARY KEY(queue, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS alkstore_dedupe_age ON alkstore_dedupe(until);

CREATE TABLE IF NOT EXISTS alkstore_locks(
  name TEXT PRIMARY KEY,
  owner TEXT,
  token INTEGER NOT NULL,
  ttl_ms INTEGER NOT NULL,
  renewals INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS alkstore_schedules(
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  interval_ms INTEGER NOT NULL,
  queue TEXT NOT NULL,
  payload BLOB NOT NULL,
  priority INTEGER,
  expires_in_ms INTEGER,
  max_attempts INTEGER,
  visibility_ms INTEGER,
  backoff_ms INTEGER,
  next_fire_at INTEGER NOT NULL,
  paused INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS alkstore_schedules_due
  ON alkstore_schedules(next_fire_at) WHERE paused = 0;

INSERT OR IGNORE INTO alkstore_meta VALUES('schema_version', 1);
)sql";

static_assert(schema_version == 1, "the INSERT above writes this number");

statement prepare(sqlite3* db, const char* text) {
  sqlite3_stmt* stmt = nullptr;
  if (auto rc = sqlite3_prepare_v2(db, text, -1, &stmt, nullptr))
    throw sqlite_failure(db, rc, "reading the schema");
  return {db, stmt};
}

} // namespace

int stored_schema_version(sqlite3* db) {
  auto table = prepare(db, "SELECT 1 FROM sqlite_schema WHERE type = 'table' "
                           "AND name = 'alkstore_meta'");
  if (!table.step())
    return 0;
  auto version = prepare(
    db, "SELECT value FROM alkstore_meta WHERE key = 'schema_version'");
  return version.step() ? static_cast<int>(version.integer(0)) : 0;
}

void check_schema_version(int stored) {
  if (stored > schema_version)
    throw failure{errc::schema_too_new,
                  "the file holds schema version " + std::to_string(stored)
                    + ", this library knows up to version "
                    + std::to_string(schema_version)};
}

void require_schema(int stored) {
  check_schema_version(stored);
  if (stored < 1)
    throw failure{errc::invalid_argument,
                  "the file holds no alkstore tables: open it as a store once"};
}

void create_schema(sqlite3* db) {
  if (auto rc = sqlite3_exec(db, tables, nullptr, nullptr, nullptr))
    throw sqlite_failure(db, rc, "creating the tables");
}

} // namespace alkstore
