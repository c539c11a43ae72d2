#include "substrate/schema.hpp"

#include "tests/substrate/caller.hpp"
#include "tests/substrate/fixture.hpp"

#include <fstream>

using namespace alkstore;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

constexpr auto upgrade =
  "UPDATE alkstore_meta SET value = value + 1 WHERE key = 'schema_version'";

} // namespace

TEST_CASE("the file belongs to the application: only our prefix, no stamp of "
          "its own") {
  temp_dir dir;
  auto path = dir / "app.db";
  caller app{path};
  app.run("PRAGMA user_version = 7; PRAGMA application_id = 8;"
          "CREATE TABLE orders(id INTEGER PRIMARY KEY);"
          "INSERT INTO orders VALUES(1)");
  connection db{path, {}};
  auto number = [&](const char* sql) {
    auto row = db.sql(sql);
    row.step();
    return row.integer(0);
  };
  CHECK(number("SELECT count(*) FROM orders") == 1);
  CHECK(number("PRAGMA user_version") == 7);
  CHECK(number("PRAGMA application_id") == 8);
  CHECK(number("SELECT count(*) FROM sqlite_schema WHERE name <> 'orders'"
               " AND substr(name, 1, 9) <> 'alkstore_'"
               " AND substr(name, 1, 7) <> 'sqlite_'")
        == 0);
  CHECK(stored_schema_version(db.handle()) == 1);
  app.run("DROP TABLE orders");
}

TEST_CASE("H62: a file of a newer schema is refused with both versions and "
          "left as it is") {
  temp_dir dir;
  auto path = dir / "store.db";
  {
    connection db{path, {}};
    transaction tx{db};
    tx.run(upgrade);
    tx.commit();
  }
  auto bytes = read_file(path);
  for (auto read_only : {false, true}) {
    auto open = [&] { connection{path, {.read_only = read_only}}; };
    CHECK(error_of(open) == errc::schema_too_new);
    CHECK(text_of(open)
          == "database " + path
               + ": the file holds schema version 2, this library knows up to "
                 "version 1");
  }
  CHECK((read_file(path) == bytes));
  CHECK(read_file(path + "-wal").empty());
}

TEST_CASE("H62: a newer file in another journal mode keeps it") {
  temp_dir dir;
  auto path = dir / "store.db";
  {
    connection{path, {}};
  }
  {
    caller app{path};
    app.run("PRAGMA journal_mode = DELETE");
    app.run(upgrade);
  }
  auto bytes = read_file(path);
  CHECK(error_of([&] { connection{path, {}}; }) == errc::schema_too_new);
  CHECK((read_file(path) == bytes));
}

TEST_CASE("H62: a running program notices the upgrade at its next "
          "transaction") {
  store s;
  s.enqueue(q);
  caller newer{s.db.path()};
  newer.run(upgrade);
  CHECK(error_of([&] { s.enqueue(q); }) == errc::schema_too_new);
  CHECK(error_of([&] { s.get(1); }) == errc::schema_too_new);
  caller app{s.db.path()};
  app.run("BEGIN IMMEDIATE");
  CHECK(error_of([&] { enqueue_tx(app, "q", "x"); }) == errc::schema_too_new);
  app.run("ROLLBACK");
  newer.run("UPDATE alkstore_meta SET value = 1");
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 1);
}

TEST_CASE("a store whose version row is gone is refused") {
  store s;
  caller app{s.db.path()};
  app.run("DELETE FROM alkstore_meta");
  CHECK(error_of([&] { s.enqueue(q); }) == errc::invalid_argument);
}

TEST_CASE("opening again keeps what is there") {
  temp_dir dir;
  manual_clock time;
  for (int64_t i = 1; i <= 3; ++i) {
    connection db{dir / "store.db", {}, time};
    transaction tx{db};
    CHECK(jobs::enqueue(tx, q, "x") == i);
    tx.commit();
  }
}

TEST_CASE("an application's UTF-16 database holds a store like any other") {
  temp_dir dir;
  auto path = dir / "app.db";
  {
    caller app{path};
    app.run("PRAGMA encoding = 'UTF-16'; CREATE TABLE orders(id INTEGER)");
  }
  manual_clock time;
  connection db{path, {}, time};
  transaction tx{db};
  auto id = jobs::enqueue(tx, q, "\xC3\xA9\0");
  auto found = claims::claim(tx, q, "w\xC3\xB6rker", 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].queue == "q");
  CHECK(found[0].payload == "\xC3\xA9");
  claims::retry(tx, found[0].claim, "d\xC3\xA9j\xC3\xA0 vu");
  CHECK(jobs::get(tx, id).last_error == "d\xC3\xA9j\xC3\xA0 vu");
  CHECK(jobs::get(tx, id).worker == "w\xC3\xB6rker");
  auto made = schedules::add(tx, {"s", "@every 1s", "q", "p", {}});
  CHECK(made.name == "s");
  CHECK(made.spec == "@every 1s");
  CHECK(leases::acquire(tx, "lock", "a", 1s)->owner == "a");
}
