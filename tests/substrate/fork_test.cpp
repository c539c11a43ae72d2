// Files that several processes open, and connections that a fork copies.
#include "tests/substrate/fixture.hpp"
#include "tests/substrate/processes.hpp"

#include <unistd.h>

using namespace alkstore;

namespace {

// Eight processes open the same new file at the same moment.
void check_bootstrap(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    temp_dir dir;
    auto path = dir / "store.db";
    process_barrier start{8};
    auto statuses = in_children(8, [&](int) {
      start.wait();
      connection db{path, {}};
      transaction tx{db};
      jobs::enqueue(tx, q, "x");
      tx.commit();
      return 0;
    });
    CHECK(statuses == std::vector(8, 0));
    connection db{path, {}};
    auto answer = [&](const char* sql) {
      auto row = db.sql(sql);
      row.step();
      return row.bytes(0);
    };
    CHECK(answer("SELECT count(*) FROM alkstore_jobs") == "8");
    CHECK(answer("PRAGMA journal_mode") == "wal");
    CHECK(answer("SELECT count(*) FROM alkstore_meta"
                 " WHERE key = 'schema_version'")
          == "1");
  }
}

// A child that got the open store through fork() leaves it unharmed.
void check_forks(int rounds) {
  auto writes = 1000 / rounds;
  temp_dir dir;
  auto path = dir / "store.db";
  {
    open_options quick{.sync = durability::normal};
    auto db = std::make_optional<connection>(path, quick);
    for (int i = 0; i < rounds; ++i) {
      auto tx = std::make_optional<transaction>(*db);
      jobs::enqueue(*tx, q, "x");
      auto child = fork_child([&] {
        if (error_of([&] { tx->commit(); }) != errc::forked)
          return 1;
        tx.reset();
        if (error_of([&] { transaction{*db}; }) != errc::forked)
          return 2;
        if (!contains(text_of([&] { db->data_version(); }), "fork"))
          return 3;
        db.reset(); // as an exit handler would
        return 0;
      });
      CHECK(wait_for(child) == 0);
      tx->commit();
      tx.reset();
      for (int j = 1; j < writes; ++j) {
        transaction each{*db};
        jobs::enqueue(each, q, "x");
        each.commit();
      }
    }
    CHECK(db->still_there());
  }
  auto status = wait_for(fork_child([&] {
    connection db{path, {}};
    auto count = db.sql("SELECT count(*) FROM alkstore_jobs");
    auto whole = db.sql("PRAGMA integrity_check");
    count.step();
    whole.step();
    return count.integer(0) == rounds * writes && whole.bytes(0) == "ok" ? 0
                                                                         : 1;
  }));
  CHECK(status == 0);
}

} // namespace

TEST_CASE("H55: eight processes open one new file at once") {
  check_bootstrap(3);
}

TEST_CASE("H55: the same over 50 rounds", "[slow]") {
  check_bootstrap(50);
}

TEST_CASE("H56: a forked child is refused and does the parent's store no "
          "harm") {
  check_forks(10);
}

TEST_CASE("H56: the same over 100 rounds", "[slow]") {
  check_forks(100);
}
