#include "substrate/statement.hpp"

#include <cerrno>

namespace alkstore {

namespace {

// Measured against SQLite's own list of extended result codes.
errc code_of(sqlite3* db, int rc) {
  switch (rc) {
    case SQLITE_IOERR_NOMEM: return errc::out_of_memory;
    case SQLITE_READONLY_DBMOVED: return errc::moved;
    default: break;
  }
  switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: // lost the race for a WAL snapshot too often
    case SQLITE_INTERRUPT: return errc::busy;
    case SQLITE_FULL: return errc::disk_full;
    case SQLITE_READONLY:
    case SQLITE_PERM: return errc::read_only;
    case SQLITE_CANTOPEN: {
      auto cause = sqlite3_system_errno(db);
      return cause == EACCES || cause == EPERM || cause == EROFS
               ? errc::read_only
               : errc::io_error;
    }
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return errc::corrupt;
    case SQLITE_IOERR: return errc::io_error;
    case SQLITE_NOMEM: return errc::out_of_memory;
    case SQLITE_TOOBIG: return errc::payload_too_large;
    case SQLITE_AUTH:
    case SQLITE_MISUSE: return errc::invalid_argument;
    default: return errc::failed;
  }
}

} // namespace

failure sqlite_failure(sqlite3* db, int rc, std::string_view doing) {
  auto text = std::string{doing} + ": " + sqlite3_errmsg(db) + " ("
              + sqlite3_errstr(rc & 0xff) + ", code " + std::to_string(rc)
              + ")";
  if (rc == SQLITE_BUSY_SNAPSHOT)
    text += "; the transaction read before it wrote and its snapshot is "
            "stale: begin it with BEGIN IMMEDIATE";
  return {code_of(db, rc), text};
}

statement::~statement() {
  if (!lent_) {
    sqlite3_finalize(stmt_);
    return;
  }
  sqlite3_reset(stmt_);
  sqlite3_clear_bindings(stmt_); // they point at the caller's memory
  *lent_ = false;
}

bool statement::step() {
  auto rc = sqlite3_step(stmt_);
  if (rc == SQLITE_ROW)
    return true;
  if (rc == SQLITE_DONE)
    return false;
  throw sqlite_failure(db_, sqlite3_extended_errcode(db_), sqlite3_sql(stmt_));
}

std::string_view statement::view(int column) const {
  // An application's database may be UTF-16: the blob of a TEXT would be, too.
  auto is_text = sqlite3_column_type(stmt_, column) == SQLITE_TEXT;
  auto data = is_text
                ? static_cast<const void*>(sqlite3_column_text(stmt_, column))
                : sqlite3_column_blob(stmt_, column);
  if (!data)
    return {};
  return {static_cast<const char*>(data),
          static_cast<size_t>(sqlite3_column_bytes(stmt_, column))};
}

bool statement::step_unless_busy() {
  auto rc = sqlite3_step(stmt_);
  if (rc == SQLITE_DONE)
    return true;
  auto why = sqlite3_extended_errcode(db_);
  if (code_of(db_, why) == errc::busy)
    return false;
  throw sqlite_failure(db_, why, sqlite3_sql(stmt_));
}

void statement::bind_integer(int index, int64_t value) {
  check(sqlite3_bind_int64(stmt_, index, value));
}

void statement::bind_one(int index, std::string_view text) {
  check(sqlite3_bind_text64(stmt_, index, text.data() ? text.data() : "",
                            text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void statement::bind_one(int index, blob value) {
  // A null pointer would be bound as NULL, and an empty payload is no NULL.
  auto data = value.bytes.data() ? value.bytes.data() : "";
  check(
    sqlite3_bind_blob64(stmt_, index, data, value.bytes.size(), SQLITE_STATIC));
}

void statement::bind_null(int index) {
  check(sqlite3_bind_null(stmt_, index));
}

void statement::check(int rc) {
  if (rc != SQLITE_OK)
    throw sqlite_failure(db_, rc, "binding a value");
}

} // namespace alkstore
