#include "substrate/outbox.hpp"

#include "tests/substrate/caller.hpp"
#include "tests/substrate/fixture.hpp"

using namespace alkstore;

namespace {

bool deliver(store& s, const delivery_function& how) {
  return run_once(s.db, box, "w", how);
}

bool succeed(const job&) {
  return true;
}
bool refuse(const job&) {
  return false;
}

} // namespace

TEST_CASE("S13: an outbox message and the caller's own rows commit together or "
          "not at all") {
  store s;
  caller app{s.db.path()};
  app.run("CREATE TABLE orders(id INTEGER PRIMARY KEY)");
  app.run("BEGIN IMMEDIATE; INSERT INTO orders VALUES(1)");
  auto id = outbox_enqueue_tx(app, "box", "shipped", {}, {}, s.time);
  auto plain = enqueue_tx(app, "q", "count", {}, {}, s.time);
  SECTION("rolled back: neither") {
    app.run("ROLLBACK");
    CHECK(s.number("SELECT count(*) FROM orders") == 0);
    CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 0);
    CHECK(s.number("SELECT count(*) FROM alkstore_payloads") == 0);
  }
  SECTION("committed: both") {
    CHECK(error_of([&] { s.get(id); }) == errc::not_found);
    app.run("COMMIT");
    CHECK(s.number("SELECT count(*) FROM orders") == 1);
    auto message = s.get(id);
    CHECK(message.queue == "__alkstore_outbox:box");
    CHECK(message.payload == "shipped");
    CHECK(message.visibility_timeout == 60s);
    CHECK(message.max_attempts == 5);
    CHECK(message.backoff_base == 5s);
    CHECK(message.enqueued_at == T);
    CHECK(s.get(plain).visibility_timeout == 300s);
    CHECK(s.get(plain).max_attempts == 3);
  }
}

TEST_CASE("S13: a caller in the middle of a statement of its own can enqueue") {
  store s;
  caller app{s.db.path()};
  app.run("CREATE TABLE orders(id INTEGER PRIMARY KEY); BEGIN IMMEDIATE");
  {
    sqlite3_stmt* raw = nullptr;
    REQUIRE(sqlite3_prepare_v2(app,
                               "INSERT INTO orders VALUES(7), (8) RETURNING id",
                               -1, &raw, nullptr)
            == SQLITE_OK);
    statement row{app, raw};
    while (row.step())
      outbox_enqueue_tx(app, "box", std::to_string(row.integer(0)), {}, {},
                        s.time);
  }
  app.run("COMMIT");
  CHECK(s.claim(box).payload == "7");
  CHECK(s.claim(box).payload == "8");
}

TEST_CASE("S12: neither enqueue_tx nor outbox_enqueue_tx reaches a reserved "
          "name") {
  store s;
  caller app{s.db.path()};
  app.run("BEGIN IMMEDIATE");
  witness unchanged{s};
  for (auto name : {"__alkstore_outbox:box", "__alkstore", "__alkstore_x"}) {
    CHECK(error_of([&] { enqueue_tx(app, name, "x"); }) == errc::reserved_name);
    CHECK(error_of([&] { outbox_enqueue_tx(app, name, "x"); })
          == errc::reserved_name);
  }
  CHECK(error_of([&] { enqueue_tx(app, "a b", "x"); }) == errc::invalid_name);
  CHECK(error_of([&] { enqueue_tx(app, "q", "x", {.max_attempts = 0}); })
        == errc::invalid_argument);
  CHECK(error_of([&] { enqueue_tx(app, "q", "1234", {}, {.max_payload = 3}); })
        == errc::payload_too_large);
  app.run("COMMIT");
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("enqueue_tx without an open transaction, or without our tables, is "
          "refused") {
  store s;
  caller app{s.db.path()};
  CHECK(error_of([&] { enqueue_tx(app, "q", "x"); }) == errc::invalid_argument);
  CHECK(text_of([&] { outbox_enqueue_tx(app, "box", "x"); })
        == "no transaction is open on the caller's connection: begin one with "
           "BEGIN IMMEDIATE");
  caller stranger{s.dir / "other.db"};
  stranger.run("BEGIN IMMEDIATE");
  CHECK(error_of([&] { enqueue_tx(stranger, "q", "x"); })
        == errc::invalid_argument);
  CHECK(text_of([&] { enqueue_tx(stranger, "q", "x"); })
        == "the file holds no alkstore tables: open it as a store once");
}

TEST_CASE(
  "a trigger of the caller's can enqueue: the statement that set it off "
  "is the transaction") {
  store s;
  caller app{s.db.path()};
  sqlite3_create_function(
    app, "send", 1, SQLITE_UTF8, nullptr,
    [](sqlite3_context* context, int, sqlite3_value** values) {
      auto text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
      try {
        outbox_enqueue_tx(sqlite3_context_db_handle(context), "box", text);
      } catch (const failure& why) {
        sqlite3_result_error(context, to_string(why.code()).c_str(), -1);
      }
    },
    nullptr, nullptr);
  app.run("CREATE TABLE orders(item TEXT UNIQUE);"
          "CREATE TRIGGER announce AFTER INSERT ON orders"
          " BEGIN SELECT send(NEW.item); END");
  app.run("INSERT INTO orders VALUES('tea')");
  CHECK(s.get(1).payload == "tea");
  // The second row breaks the rule of the table: neither row, neither message.
  CHECK(sqlite3_exec(app, "INSERT INTO orders VALUES('milk'), ('tea')", nullptr,
                     nullptr, nullptr)
        == SQLITE_CONSTRAINT);
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 1);
  CHECK(s.number("SELECT count(*) FROM alkstore_payloads") == 1);
  // A SELECT by itself is none: each of our own statements would commit.
  CHECK(sqlite3_exec(app, "SELECT send('lone')", nullptr, nullptr, nullptr)
        == SQLITE_ERROR);
  CHECK(std::string{sqlite3_errmsg(app)} == "invalid_argument");
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 1);
}

TEST_CASE("a caller's stale snapshot is busy, with the advice to begin "
          "immediately") {
  store s;
  caller app{s.db.path()};
  app.run("BEGIN; SELECT count(*) FROM alkstore_jobs");
  s.enqueue(q);
  CHECK(error_of([&] { enqueue_tx(app, "q", "x"); }) == errc::busy);
  CHECK(contains(text_of([&] { enqueue_tx(app, "q", "x"); }),
                 "begin it with BEGIN IMMEDIATE"));
  app.run("ROLLBACK; BEGIN IMMEDIATE");
  CHECK(enqueue_tx(app, "q", "x") == 2);
  app.run("COMMIT");
}

TEST_CASE("in a caller's transaction each call reads the clock, and a key "
          "answers the job that is there") {
  store s;
  caller app{s.db.path()};
  app.run("BEGIN IMMEDIATE");
  job_options keyed{.dedupe_key = "k"};
  CHECK(enqueue_tx(app, "q", "x", keyed, {}, s.time) == 1);
  s.time.advance(5s);
  CHECK(enqueue_tx(app, "q", "x", keyed, {}, s.time) == 1);
  CHECK(enqueue_tx(app, "q", "x", {}, {}, s.time) == 2);
  app.run("COMMIT");
  CHECK(s.get(1).enqueued_at == T);
  CHECK(s.get(2).enqueued_at == T + 5s);
}

TEST_CASE("the caller's transaction is the caller's: we neither commit it nor "
          "roll it back") {
  store s;
  caller app{s.db.path()};
  app.run("BEGIN IMMEDIATE");
  {
    transaction tx{app, {}, s.time};
    jobs::enqueue(tx, q, "x");
    CHECK(error_of([&] { tx.commit(); }) == errc::invalid_argument);
  }
  CHECK(sqlite3_get_autocommit(app) == 0);
  app.run("COMMIT");
  CHECK(s.get(1).payload == "x");
}

TEST_CASE("S15: run_once acks a success, retries a failure and answers false "
          "when nothing is due") {
  store s;
  CHECK_FALSE(deliver(s, succeed));
  auto id = s.enqueue(box, "message");
  CHECK(deliver(s, refuse));
  auto waiting = s.get(id);
  CHECK(waiting.state == job_state::waiting);
  CHECK(waiting.last_error == "the delivery failed");
  CHECK(waiting.run_at == T + 5s);
  CHECK_FALSE(deliver(s, succeed));
  s.time.advance(5s);
  std::string payload;
  CHECK(deliver(s, [&](const job& x) {
    payload = x.payload;
    return true;
  }));
  CHECK(payload == "message");
  CHECK(error_of([&] { s.get(id); }) == errc::not_found);
}

TEST_CASE("S15, S16: five attempts wait 5, 10, 20 and 40 s under one stable id "
          "and end dead") {
  store s;
  auto id = s.enqueue(box);
  auto stable_id = s.get(id).stable_id;
  auto attempt = 0;
  auto fail = [&](const job& x) -> bool {
    CHECK(x.attempts == ++attempt);
    CHECK(x.stable_id == stable_id);
    throw std::runtime_error{"refused " + std::to_string(attempt)};
  };
  for (auto wait : {5s, 10s, 20s, 40s}) {
    CHECK(deliver(s, fail));
    CHECK(s.get(id).run_at == s.time.wall_now() + wait);
    CHECK(s.get(id).last_error == "refused " + std::to_string(attempt));
    s.time.advance(wait);
  }
  CHECK(deliver(s, fail));
  CHECK(attempt == 5);
  CHECK(s.get(id).state == job_state::dead);
  CHECK(s.get(id).last_error == "refused 5");
  CHECK(s.get(id).stable_id == stable_id);
}

TEST_CASE("a delivery may throw what it likes, and runs outside any "
          "transaction") {
  store s;
  auto id = s.enqueue(box);
  CHECK(deliver(s, [&](const job&) -> bool {
    CHECK(sqlite3_get_autocommit(s.db.handle()) != 0);
    throw 7;
  }));
  CHECK(s.get(id).last_error
        == "the delivery threw something that is no std::exception");
}

TEST_CASE("a delivery whose claim lapsed is claim_lost, one that sent a "
          "heartbeat counts") {
  store s;
  auto id = s.enqueue(box);
  auto slow = [&](const job&) {
    s.time.advance(60s);
    return true;
  };
  CHECK(error_of([&] { deliver(s, slow); }) == errc::claim_lost);
  CHECK(s.get(id).state == job_state::waiting);
  CHECK(deliver(s, [&](const job& x) {
    s.time.advance(59s);
    s.heartbeat(x.claim, 30s);
    s.time.advance(29s);
    return true;
  }));
  CHECK(error_of([&] { s.get(id); }) == errc::not_found);
}

TEST_CASE("H06: a step back makes a retry wait, it costs no attempt and loses "
          "nothing") {
  store s;
  auto id = s.enqueue(box, "x", {.backoff_base = 30s});
  CHECK(deliver(s, refuse));
  for (int second = 1; second <= 60; ++second) {
    s.time.set(T + 1s - 1h + std::chrono::seconds{second});
    CHECK_FALSE(deliver(s, succeed));
  }
  CHECK(s.get(id).attempts == 1);
  CHECK(s.get(id).run_at == T + 30s);
  s.time.set(T + 61s);
  CHECK(deliver(s, succeed));
  CHECK_FALSE(deliver(s, succeed));
}
