// An application's own connection, as SQLite's manual opens it.
#pragma once

#include "substrate/sqlite.hpp"
#include "tests/catch.hpp"

#include <string>

namespace alkstore {

class caller {
public:
  explicit caller(const std::string& path) {
    REQUIRE(sqlite3_open(path.c_str(), &db_) == SQLITE_OK);
  }
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;
  /// Not sqlite3_close_v2: a statement that we kept would make it fail.
  ~caller() { CHECK(sqlite3_close(db_) == SQLITE_OK); }

  void run(const char* sql) {
    CAPTURE(sql);
    REQUIRE(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  }

  operator sqlite3*() const { return db_; }

private:
  sqlite3* db_ = nullptr;
};

} // namespace alkstore
