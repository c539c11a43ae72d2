// The one way to run operations: inside a transaction, at one `now`.
#pragma once

#include "substrate/connection.hpp"

#include <memory>

namespace alkstore {

/// An open transaction and the wall-clock reading that all its operations use.
/// Rolls back when it goes without commit().
class transaction {
public:
  enum class access { write, read };

  /// On our own connection: BEGIN IMMEDIATE (access::write), then reads the
  /// clock, so that a write that waited for the lock judges no lease by a stale
  /// time. Errors: busy (nothing happened), forked, schema_too_new, and as
  /// SQLite says.
  explicit transaction(connection& db, access mode = access::write);

  /// The same for writing, and null where it would be busy.
  static std::unique_ptr<transaction> if_free(connection& db);

  /// Inside the caller's own open transaction on the caller's own connection:
  /// neither committed nor rolled back here, no statement kept. Also inside a
  /// statement of the caller's that writes, as in a trigger: SQLite then makes
  /// that statement the transaction. With access::read inside any statement
  /// that reads. Errors: invalid_argument if no transaction is open.
  transaction(sqlite3* db, const store_rules& rules,
              const clock& time = clock::system(), access mode = access::write);

  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  ~transaction();

  /// Makes it durable. Errors: invalid_argument for a caller's own transaction
  /// and for one that has ended; forked; disk_full (nothing happened);
  /// io_error: the outcome is unknown, and the connection should be opened
  /// anew.
  void commit();

  /// The wall clock as read once the lock was ours.
  timestamp now() const noexcept { return now_; }
  const clock& time() const noexcept { return time_; }
  const store_rules& rules() const noexcept { return rules_; }
  sqlite3* handle() const noexcept { return db_; }

  /// connection::data_version() as of its begin; 0 for a caller's own.
  int64_t data_version() const noexcept { return data_version_; }

  /// A statement of this transaction: kept on our own connection, prepared anew
  /// on a caller's (a kept one would make its sqlite3_close answer BUSY).
  /// `text` is a literal. Errors: invalid_argument once the transaction has
  /// ended.
  statement sql(const char* text);

  /// Runs a statement that answers no rows. Returns the rows it changed.
  template <class... Ts>
  int run(const char* text, const Ts&... values) {
    sql(text).bind(values...).step();
    return sqlite3_changes(db_);
  }

  /// Refuses (errc::corrupt) unless the last statement changed so many rows: an
  /// index has just named them, so it does not fit its table. Whoever walks an
  /// index until it names no more would walk a damaged one for ever.
  void require_changed(size_t rows) const;

  /// False once SQLite ended the transaction by itself, as after a full disk.
  bool is_open() const noexcept;

  /// Rows changed on this connection so far: a refused operation changed none.
  int64_t changes_so_far() const noexcept {
    return sqlite3_total_changes64(db_);
  }

private:
  struct begun {};
  static begun begin(connection& db, access mode);
  transaction(connection& db, access mode, begun);

  sqlite3* db_;
  connection* own_ = nullptr;
  access mode_;
  store_rules rules_;
  const clock& time_;
  timestamp now_;
  int64_t data_version_ = 0;
};

} // namespace alkstore
