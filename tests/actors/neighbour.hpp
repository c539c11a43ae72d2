// Another connection on the store's file, as another process has it.
#pragma once

#include "substrate/connection.hpp"
#include "substrate/jobs.hpp"
#include "tests/catch.hpp"

#include <optional>
#include <string>

namespace alkstore::test {

class neighbour {
public:
  explicit neighbour(std::string path)
    : db_(std::move(path), {.sync = durability::normal}) {}

  /// What does it, in a transaction of its own.
  template <class F>
  auto write(F work) {
    transaction tx{db_};
    auto result = work(tx);
    tx.commit();
    return result;
  }

  int64_t enqueue(const std::string& queue, const job_options& how = {}) {
    return write([&](transaction& tx) {
      return jobs::enqueue(tx, queue_name::plain(queue), "x", how);
    });
  }

  /// The one number that a query answers, by committed state.
  int64_t number(const char* sql) {
    transaction tx{db_, transaction::access::read};
    auto row = tx.sql(sql);
    REQUIRE(row.step());
    return row.integer(0);
  }

  int64_t jobs() { return number("SELECT count(*) FROM alkstore_jobs"); }

  /// Holds the write lock until let_go().
  transaction& hold() { return held_.emplace(db_); }
  void let_go() { held_.reset(); }

  /// Sees what was there at this moment for as long as it lives.
  transaction snapshot() { return transaction{db_, transaction::access::read}; }

private:
  connection db_;
  std::optional<transaction> held_;
};

} // namespace alkstore::test
