#include "substrate/transact.hpp"

#include "substrate/outbox.hpp"
#include "tests/substrate/fixture.hpp"

using namespace alkstore;

namespace {

int exec(transaction& tx, const char* sql) {
  return sqlite3_exec(tx.handle(), sql, nullptr, nullptr, nullptr);
}

// A transaction of its own around the function, as the writer does it.
void run(store& s, const transact_function& work, millis limit = 1s) {
  transaction tx{s.db};
  transact(tx, work, limit);
  tx.commit();
}

constexpr auto endless =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
  " SELECT sum(i) FROM n";

} // namespace

TEST_CASE("S13: transact commits business rows and messages together") {
  store s;
  run(s, [](transaction& tx) {
    REQUIRE(exec(tx, "CREATE TABLE orders(id INTEGER)") == SQLITE_OK);
    REQUIRE(exec(tx, "INSERT INTO orders VALUES(1)") == SQLITE_OK);
    jobs::enqueue(tx, box, "by the store's own function");
    outbox_enqueue_tx(tx.handle(), "box", "by the caller's");
  });
  CHECK(s.number("SELECT count(*) FROM orders") == 1);
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs WHERE max_attempts = 5")
        == 2);
}

TEST_CASE("S13: what the function throws rolls everything back and tells why") {
  store s;
  witness unchanged{s};
  auto enqueue_then = [&](auto thrown) {
    return [&s, thrown] {
      run(s, [&](transaction& tx) {
        jobs::enqueue(tx, box, "x");
        throw thrown;
      });
    };
  };
  auto text = enqueue_then(std::runtime_error{"no such customer"});
  CHECK(error_of(text) == errc::failed);
  CHECK(text_of(text) == "no such customer");
  auto code = enqueue_then(failure{errc::not_found, "no order 7"});
  CHECK(error_of(code) == errc::not_found);
  CHECK(text_of(code) == "no order 7");
  CHECK(text_of(enqueue_then(7))
        == "the function threw something that is no std::exception");
  CHECK(unchanged.saw_nothing());
  CHECK(s.enqueue(q) == 1);
}

TEST_CASE("the function can neither end the transaction nor attach a file") {
  store s;
  s.enqueue(q); // BEGIN and COMMIT are among the kept statements now
  witness unchanged{s};
  CHECK(text_of([&] {
          run(s, [](transaction& tx) {
            jobs::enqueue(tx, q, "x");
            for (auto sql : {"BEGIN", "COMMIT", "END", "ROLLBACK",
                             "ATTACH ':memory:' AS other", "DETACH main"}) {
              CAPTURE(sql);
              CHECK(exec(tx, sql) == SQLITE_AUTH);
            }
            CHECK(error_of([&] { tx.run("COMMIT"); })
                  == errc::invalid_argument);
            CHECK(error_of([&] { tx.commit(); }) == errc::invalid_argument);
            CHECK(tx.is_open());
            throw failure{errc::failed, "enough"};
          });
        })
        == "enough");
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("a savepoint of the function's own is none of our business") {
  store s;
  run(s, [](transaction& tx) {
    CHECK(exec(tx, "SAVEPOINT mine") == SQLITE_OK);
    jobs::enqueue(tx, q, "undone");
    CHECK(exec(tx, "ROLLBACK TO mine; RELEASE mine") == SQLITE_OK);
    jobs::enqueue(tx, q, "kept");
  });
  CHECK(s.claim(q).payload == "kept");
  CHECK(s.claim(q, 1).empty());
}

TEST_CASE("S23: a function that ends the transaction by a conflict rule is "
          "refused, and nothing of ours runs behind it") {
  store s;
  run(s, [](transaction& tx) {
    exec(tx, "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES(1)");
  });
  witness unchanged{s};
  auto ends = [&] {
    run(s, [](transaction& tx) {
      jobs::enqueue(tx, q, "x");
      CHECK(exec(tx, "INSERT OR ROLLBACK INTO t VALUES(1)")
            == SQLITE_CONSTRAINT_PRIMARYKEY);
      CHECK_FALSE(tx.is_open());
      CHECK(text_of([&] { jobs::enqueue(tx, q, "y"); })
            == "the transaction has ended: no statement runs outside one");
    });
  };
  CHECK(error_of(ends) == errc::invalid_argument);
  CHECK(text_of(ends) == "the function ended the store's transaction");
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("SQL that still runs after the limit is interrupted and answered "
          "busy, whatever the function makes of it") {
  store s;
  witness unchanged{s};
  auto limit_passes = [&](auto then) {
    return [&, then] {
      run(
        s,
        [&](transaction& tx) {
          jobs::enqueue(tx, q, "x");
          s.time.advance(50ms);
          then(tx);
        },
        50ms);
    };
  };
  auto passed_on = limit_passes([](transaction& tx) { tx.run(endless); });
  CHECK(error_of(passed_on) == errc::busy);
  CHECK(text_of(passed_on)
        == "the function's SQL still ran after 50 ms and was interrupted");
  CHECK(error_of(limit_passes([](transaction& tx) {
          CHECK(exec(tx, endless) == SQLITE_INTERRUPT);
        }))
        == errc::busy);
  CHECK(error_of(limit_passes([](transaction& tx) {
          if (exec(tx, endless) != SQLITE_OK)
            throw std::runtime_error{"SQLite said no"};
        }))
        == errc::busy);
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("after the function the connection is as it was") {
  store s;
  run(s, [](transaction&) {});
  s.time.advance(1h);
  CHECK(s.number("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
                 " FROM n WHERE i < 10000) SELECT count(*) FROM n")
        == 10000);
  CHECK(
    sqlite3_exec(s.db.handle(), "BEGIN; ROLLBACK", nullptr, nullptr, nullptr)
    == SQLITE_OK);
}
