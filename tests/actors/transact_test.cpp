// Functions of the caller's, run in a transaction on the store's connection.
#include "substrate/outbox.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"

#include <new>

using namespace alkstore;
using namespace alkstore::test;

namespace {

int execute(transaction& tx, const char* text) {
  return sqlite3_exec(tx.handle(), text, nullptr, nullptr, nullptr);
}

void create_orders(store_fixture& t) {
  t.ask<completed>(t.writer, transact_request{[](transaction& tx) {
                     execute(tx, "CREATE TABLE orders(id INTEGER)");
                   }});
}

constexpr auto orders = "SELECT count(*) FROM orders";

} // namespace

TEST_CASE("S13: transact lands the caller's row and its message, or neither") {
  store_fixture t;
  create_orders(t);
  neighbour other{t.path()};
  auto order = [](bool fails) {
    return transact_request{[fails](transaction& tx) {
      execute(tx, "INSERT INTO orders VALUES(1)");
      outbox_enqueue_tx(tx.handle(), "mail", "order 1");
      if (fails)
        throw std::runtime_error{"out of stock"};
    }};
  };
  auto refused = t.try_ask<completed>(t.writer, order(true));
  CHECK(refused.code == errc::failed);
  CHECK(refused.text == "out of stock");
  CHECK(other.number(orders) == 0);
  CHECK(other.jobs() == 0);
  t.ask<completed>(t.writer, order(false));
  CHECK(other.number(orders) == 1);
  CHECK(other.number("SELECT visibility_ms FROM alkstore_jobs") == 60'000);
  CHECK(t.events.count("store fault") == 0); // it was the caller's
}

TEST_CASE("S13: a function of the caller's cannot end the transaction nor "
          "attach a file") {
  store_fixture t;
  create_orders(t);
  neighbour other{t.path()};
  for (auto text : {"BEGIN", "COMMIT", "ROLLBACK", "END",
                    "ATTACH ':memory:' AS x", "DETACH main"}) {
    int rc = SQLITE_OK;
    t.ask<completed>(t.writer, transact_request{[&](transaction& tx) {
                       rc = execute(tx, text);
                     }});
    INFO(text);
    CHECK(rc == SQLITE_AUTH);
  }
  // What OR ROLLBACK does behind the authorizer's back is seen afterwards.
  auto got = t.try_ask<completed>(
    t.writer, transact_request{[](transaction& tx) {
      execute(tx, "CREATE TABLE u(id UNIQUE)");
      execute(tx, "INSERT INTO u VALUES(1)");
      execute(tx, "INSERT OR ROLLBACK INTO u VALUES(1)");
      execute(tx, "INSERT INTO orders VALUES(1)");
    }});
  CHECK(got.code == errc::invalid_argument);
  t.enqueue_one();
  CHECK(other.jobs() == 1);
}

TEST_CASE("S13: SQL that runs longer than transact-limit is interrupted, and "
          "the writer goes on") {
  store_fixture t{[](writer_options& o) { o.transact_limit = 30ms; }};
  create_orders(t);
  neighbour other{t.path()};
  auto endless = t.try_ask<completed>(
    t.writer, transact_request{[](transaction& tx) {
      execute(tx, "INSERT INTO orders VALUES(1)");
      execute(tx, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1"
                  " FROM c) SELECT count(*) FROM c");
    }});
  CHECK(endless.code == errc::busy);
  CHECK(other.number(orders) == 0);
  t.enqueue_one();
  CHECK(t.events.count("store fault") == 0);
}

TEST_CASE("S13: whatever a function throws, its caller hears of it and its "
          "neighbours do not") {
  store_fixture t;
  std::vector<transact_request> all{
    {[](transaction&) { throw std::bad_alloc{}; }},
    {[](transaction&) { throw 1; }},
    {[](transaction&) { throw failure{errc::not_found, "mine"}; }},
    {[](transaction& tx) {
      execute(tx, "CREATE TABLE gone(id)");
      throw std::logic_error{"late"};
    }},
    {[](transaction&) {}},
  };
  auto got = t.ask_all<completed>(t.writer, all);
  CHECK(got[0].code != errc{});
  CHECK(got[1].code == errc::failed);
  CHECK(got[2].code == errc::not_found);
  CHECK(got[3].text == "late");
  CHECK(got[4].value);
}

TEST_CASE("H53: in a transaction a second one is refused, and other calls are "
          "part of it") {
  store_fixture t;
  neighbour other{t.path()};
  auto got = t.try_ask<completed>(
    t.writer, transact_request{[](transaction& tx) {
      outbox_enqueue_tx(tx.handle(), "mail", "x");
      schedules::add(tx, {"s", "@every 1h", "q", "x", {}});
      if (execute(tx, "BEGIN IMMEDIATE") == SQLITE_OK)
        throw std::runtime_error{"a second transaction was begun"};
      throw std::runtime_error{"rolled back"};
    }});
  CHECK(got.text == "rolled back");
  CHECK(other.jobs() == 0);
  CHECK(other.number("SELECT count(*) FROM alkstore_schedules") == 0);
}

TEST_CASE("transact wakes a standing claim with what it put in") {
  store_fixture t;
  t.stand(5, 5);
  t.ask<completed>(t.writer, transact_request{[](transaction& tx) {
                     enqueue_tx(tx.handle(), "q", "from transact");
                   }});
  CHECK(t.expect<claimed>().jobs.at(0).payload == "from transact");
}
