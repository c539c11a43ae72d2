#include "substrate/transaction.hpp"

#include "substrate/schema.hpp"

namespace alkstore {

namespace {

constexpr auto rollback = "ROLLBACK";

void roll_back(connection& db) noexcept {
  try {
    db.sql(rollback).step();
  } catch (const failure&) {
    return; // SQLite has rolled back by itself
  }
}

} // namespace

transaction::transaction(connection& db, access mode)
  : db_(db.handle()),
    own_(&db),
    mode_(mode),
    rules_(db.rules()),
    time_(db.time()) {
  db.check_process();
  if (is_open())
    throw failure{errc::invalid_argument,
                  "a transaction is already open on this connection"};
  // Prepared by now: one that found no memory for it would leave the lock held.
  db.sql(rollback);
  db.sql(mode == access::write ? "BEGIN IMMEDIATE" : "BEGIN").step();
  try {
    check_schema();
  } catch (...) {
    roll_back(db);
    throw;
  }
  now_ = time_.wall_now();
}

transaction::transaction(sqlite3* db, const store_rules& rules,
                         const clock& time, access mode)
  : db_(db), mode_(mode), rules_(rules), time_(time), now_(time.wall_now()) {
  if (!is_open())
    throw failure{errc::invalid_argument,
                  "no transaction is open on the caller's connection: begin "
                  "one with BEGIN IMMEDIATE"};
  check_schema();
}

transaction::~transaction() {
  // In a forked child it is the parent's: a rollback would write into the
  // shared index of the WAL.
  if (own_ && !own_->inherited() && is_open())
    roll_back(*own_);
}

bool transaction::is_open() const noexcept {
  if (!sqlite3_get_autocommit(db_))
    return true;
  if (own_)
    return false;
  // Without BEGIN a running statement holds one, which ends with it.
  auto state = sqlite3_txn_state(db_, "main");
  return mode_ == access::read ? state != SQLITE_TXN_NONE
                               : state == SQLITE_TXN_WRITE;
}

void transaction::commit() {
  if (!own_)
    throw failure{errc::invalid_argument,
                  "the transaction is the caller's, who commits it"};
  own_->check_process();
  try {
    sql("COMMIT").step();
  } catch (const failure& why) {
    if (why.code() != errc::io_error)
      throw;
    throw failure{why.code(), std::string{why.what()}
                                + "; outcome unknown: the transaction may or "
                                  "may not be there after recovery"};
  }
}

statement transaction::sql(const char* text) {
  if (!is_open())
    throw failure{errc::invalid_argument,
                  "the transaction has ended: no statement runs outside one"};
  if (own_)
    return own_->sql(text);
  sqlite3_stmt* fresh = nullptr;
  if (auto rc = sqlite3_prepare_v2(db_, text, -1, &fresh, nullptr))
    throw sqlite_failure(db_, rc, text);
  return {db_, fresh};
}

void transaction::require_changed(size_t rows) const {
  if (static_cast<size_t>(sqlite3_changes(db_)) != rows)
    throw failure{errc::corrupt, "an index names rows that are not there"};
}

void transaction::check_schema() {
  if (!own_)
    return require_schema(stored_schema_version(db_));
  auto version = sql(
    "SELECT value FROM alkstore_meta WHERE key = 'schema_version'");
  require_schema(version.step() ? static_cast<int>(version.integer(0)) : 0);
}

} // namespace alkstore
