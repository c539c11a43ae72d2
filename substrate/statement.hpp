// A prepared statement: bind, step, read; errors are thrown as `failure`.
#pragma once

#include "substrate/error.hpp"
#include "substrate/sqlite.hpp"
#include "substrate/time.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace alkstore {

/// What SQLite last said on `db`, as our code and a sentence: "<doing>: …".
failure sqlite_failure(sqlite3* db, int rc, std::string_view doing);

/// Bytes to be bound as a BLOB instead of TEXT.
struct blob {
  std::string_view bytes;
};

/// One run of a prepared statement. Bound texts and blobs must outlive it.
class statement {
public:
  /// Its own: finalized when it goes.
  statement(sqlite3* db, sqlite3_stmt* stmt) : db_(db), stmt_(stmt) {}

  /// Lent from a cache: reset when it goes, `lent` being true meanwhile.
  statement(sqlite3* db, sqlite3_stmt* stmt, bool& lent)
    : db_(db), stmt_(stmt), lent_(&lent) {
    lent = true;
  }

  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement();

  /// Binds ?1, ?2, … in order.
  template <class... Ts>
  statement& bind(const Ts&... values) {
    bound_ = 0;
    return bind_next(values...);
  }

  /// Binds those behind what is bound already, for statements with a list.
  template <class... Ts>
  statement& bind_next(const Ts&... values) {
    (bind_one(++bound_, values), ...);
    return *this;
  }

  /// The next row: true if there is one. Errors: as SQLite says.
  bool step();

  /// Runs one that answers no rows: false where the lock that it wants is
  /// another's. Errors: as SQLite says.
  bool step_unless_busy();

  /// Makes it ready for another run, bindings kept.
  void reset() { sqlite3_reset(stmt_); }

  // -- columns of the current row, from 0 ------------------------------------

  bool is_null(int column) const {
    return sqlite3_column_type(stmt_, column) == SQLITE_NULL;
  }
  int64_t integer(int column) const {
    return sqlite3_column_int64(stmt_, column);
  }
  timestamp time(int column) const {
    return timestamp{millis{integer(column)}};
  }
  std::optional<timestamp> maybe_time(int column) const {
    if (is_null(column))
      return std::nullopt;
    return time(column);
  }
  /// A BLOB byte for byte, TEXT as UTF-8; empty for NULL. Good until the next
  /// step.
  std::string_view view(int column) const;
  /// The same, to be kept.
  std::string bytes(int column) const { return std::string{view(column)}; }

private:
  template <std::integral T>
  void bind_one(int index, T value) {
    bind_integer(index, static_cast<int64_t>(value));
  }
  void bind_one(int index, millis value) { bind_integer(index, value.count()); }
  void bind_one(int index, timestamp value) {
    bind_one(index, value.time_since_epoch());
  }
  void bind_one(int index, std::string_view text);
  void bind_one(int index, const char* text) {
    bind_one(index, std::string_view{text});
  }
  void bind_one(int index, const std::string& text) {
    bind_one(index, std::string_view{text});
  }
  void bind_one(int index, blob value);
  template <class T>
  void bind_one(int index, const std::optional<T>& value) {
    if (value)
      bind_one(index, *value);
    else
      bind_null(index);
  }
  void bind_integer(int index, int64_t value);
  void bind_null(int index);
  void check(int rc);

  sqlite3* db_;
  sqlite3_stmt* stmt_;
  bool* lent_ = nullptr;
  int bound_ = 0;
};

} // namespace alkstore
