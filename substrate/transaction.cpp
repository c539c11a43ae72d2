#include "substrate/transaction.hpp"

#include "substrate/schema.hpp"

namespace alkstore {

namespace {

constexpr auto begin_to_write = "BEGIN IMMEDIATE";
constexpr auto rollback = "ROLLBACK";

void require_none(connection& db) {
  db.check_process();
  if (!sqlite3_get_autocommit(db.handle()))
    throw failure{errc::invalid_argument,
                  "a transaction is already open on this connection"};
  // Prepared by now: one that found no memory for it would leave the lock held.
  db.sql(rollback);
}

void roll_back(connection& db) noexcept {
  try {
    db.sql(rollback).step();
  } catch (const failure&) {
    return; // SQLite has rolled back by itself
  }
}

} // namespace

transaction::transaction(connection& db, access mode)
  : transaction(db, mode, begin(db, mode)) {}

std::unique_ptr<transaction> transaction::if_free(connection& db) {
  require_none(db);
  if (!db.sql(begin_to_write).step_unless_busy())
    return nullptr;
  try {
    return std::unique_ptr<transaction>{
      new transaction{db, access::write, begun{}}};
  } catch (...) { // out of memory, or it is rolled back already
    roll_back(db);
    throw;
  }
}

transaction::begun transaction::begin(connection& db, access mode) {
  require_none(db);
  db.sql(mode == access::write ? begin_to_write : "BEGIN").step();
  return {};
}

transaction::transaction(connection& db, access mode, begun)
  : db_(db.handle()),
    own_(&db),
    mode_(mode),
    rules_(db.rules()),
    time_(db.time()) {
  try {
    data_version_ = db.checked_data_version();
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
  require_schema(stored_schema_version(db_));
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

} // namespace alkstore
