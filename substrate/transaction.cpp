#include "substrate/transaction.hpp"

#include "substrate/schema.hpp"

namespace alkstore {

transaction::transaction(connection& db, access mode)
  : db_(db.handle()), own_(&db), rules_(db.rules()), time_(db.time()) {
  db.check_process();
  if (is_open())
    throw failure{errc::invalid_argument,
                  "a transaction is already open on this connection"};
  sql(mode == access::write ? "BEGIN IMMEDIATE" : "BEGIN").step();
  try {
    check_schema();
  } catch (...) {
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
  now_ = time_.wall_now();
}

transaction::transaction(sqlite3* db, const store_rules& rules,
                         const clock& time)
  : db_(db), rules_(rules), time_(time), now_(time.wall_now()) {
  if (!is_open())
    throw failure{errc::invalid_argument,
                  "no transaction is open on the caller's connection: begin "
                  "one with BEGIN IMMEDIATE"};
  check_schema();
}

transaction::~transaction() {
  if (own_ && is_open())
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void transaction::commit() {
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
  if (own_)
    return own_->sql(text);
  sqlite3_stmt* fresh = nullptr;
  if (auto rc = sqlite3_prepare_v2(db_, text, -1, &fresh, nullptr))
    throw sqlite_failure(db_, rc, text);
  return {db_, fresh, statement::ownership::own};
}

void transaction::check_schema() {
  if (own_) {
    auto version
      = sql("SELECT value FROM alkstore_meta WHERE key = 'schema_version'");
    check_schema_version(version.step() ? static_cast<int>(version.integer(0))
                                        : 0);
    return;
  }
  auto stored = stored_schema_version(db_);
  check_schema_version(stored);
  if (stored == 0)
    throw failure{errc::invalid_argument,
                  "the caller's database holds no alkstore tables: open it as "
                  "a store once"};
}

} // namespace alkstore
