#include "tests/substrate/fixture.hpp"

#include <algorithm>

using namespace alkstore;

namespace {

std::vector<int64_t> ids(const std::vector<job>& jobs) {
  std::vector<int64_t> out;
  for (auto& x : jobs)
    out.push_back(x.id);
  return out;
}

std::vector<int64_t> claim_ids(store& s, int max) {
  return ids(s.claim(q, max));
}

std::optional<timestamp> next_claim_at(store& s) {
  transaction tx{s.db, transaction::access::read};
  return claims::next_claim_at(tx, q);
}

} // namespace

TEST_CASE("S17: jobs are claimed by priority, then at, then id") {
  store s;
  s.time.advance(1h);
  auto at = [](int priority, timestamp run_at) {
    return job_options{.priority = priority, .run_at = run_at};
  };
  s.enqueue(q, "1", at(0, T + 2s));
  s.enqueue(q, "2", at(0, T + 1s));
  s.enqueue(q, "3", at(0, T + 1s));
  s.enqueue(q, "4", at(31, T + 3s));
  s.enqueue(q, "5", at(-32, T));
  s.enqueue(q, "6", at(5, T + 9s));
  using order = std::vector<int64_t>;
  SECTION("in one claim") {
    CHECK(claim_ids(s, 10) == order{4, 6, 2, 3, 1, 5});
  }
  SECTION("one by one") {
    for (int64_t expected : {4, 6, 2, 3, 1, 5})
      CHECK(s.claim(q).id == expected);
    CHECK(claim_ids(s, 1) == order{});
  }
  SECTION("in pieces that end within a priority") {
    CHECK(claim_ids(s, 3) == order{4, 6, 2});
    CHECK(claim_ids(s, 2) == order{3, 1});
    CHECK(claim_ids(s, 2) == order{5});
  }
}

TEST_CASE("S17: a delayed job is not claimable a millisecond early") {
  store s;
  s.enqueue(q, "x", {.delay = 10s});
  s.time.advance(9999ms);
  CHECK(claim_ids(s, 1).empty());
  s.time.advance(1ms);
  CHECK(s.claim(q).run_at == T + 10s);
}

TEST_CASE("S17: a lapsed claim queues by its deadline, a released one by its "
          "run_at") {
  store s;
  auto first = s.enqueue(q, "x", {.visibility_timeout = 10s});
  auto crashed = s.claim(q);
  s.time.advance(5s);
  auto second = s.enqueue(q);
  auto released = s.claim(q);
  CHECK(released.id == second);
  s.time.advance(1s);
  auto third = s.enqueue(q);
  s.release(released.claim);
  CHECK(s.get(second).run_at == T + 5s);
  s.time.set(T + 10s);
  CHECK(claim_ids(s, 9) == std::vector{second, third, first});
}

TEST_CASE("a claimed job comes with everything its worker needs") {
  store s;
  auto id = s.enqueue(q, "payload", {.visibility_timeout = 30s});
  s.time.advance(1s);
  auto got = s.claim(q, "worker-1");
  CHECK(got.id == id);
  CHECK(got.payload == "payload");
  CHECK(got.state == job_state::running);
  CHECK(got.attempts == 1);
  CHECK(got.worker == "worker-1");
  CHECK(got.claim == claim_handle{id, 1, T + 31s});
  auto stored = s.get(id);
  CHECK(stored.claim == got.claim);
  CHECK(stored.worker == "worker-1");
  CHECK(stored.attempts == 1);
  CHECK(stored.state == job_state::running);
  CHECK(stored.stable_id == got.stable_id);
}

TEST_CASE("a claim takes from its own queue only, at most as many as asked") {
  store s;
  for (int i = 0; i < 3; ++i)
    s.enqueue(q);
  s.enqueue(queue_name::plain("q2"));
  s.enqueue(box);
  witness unchanged{s};
  CHECK(s.claim(queue_name::plain("q3"), 5).empty());
  CHECK(s.claim(q, 0).empty());
  CHECK(unchanged.saw_nothing());
  CHECK(claim_ids(s, 2) == std::vector<int64_t>{1, 2});
  CHECK(claim_ids(s, 2) == std::vector<int64_t>{3});
}

TEST_CASE("a job on its last attempt is handed out only to be started at "
          "once, and nothing overtakes it") {
  store s;
  s.enqueue(q);
  s.enqueue(q, "x", {.max_attempts = 1});
  s.enqueue(q);
  s.enqueue(q, "x", {.priority = -1});
  auto claim = [&](int startable) {
    return ids(s.write([&](transaction& tx) {
      return claims::claim(tx, q, "w", 10, startable);
    }));
  };
  CHECK(claim(1) == std::vector<int64_t>{1});
  CHECK(claim(0).empty());
  CHECK(claim(1) == std::vector<int64_t>{2, 3, 4});
}

TEST_CASE("next_claim_at is the soonest of run_at and deadline over all "
          "priorities") {
  store s;
  CHECK(next_claim_at(s) == std::nullopt);
  s.enqueue(q, "x", {.priority = 7, .delay = 9s});
  CHECK(next_claim_at(s) == T + 9s);
  s.enqueue(q, "x", {.priority = -7, .visibility_timeout = 4s});
  CHECK(next_claim_at(s) == T);
  auto running = s.claim(q);
  CHECK(next_claim_at(s) == T + 4s);
  s.heartbeat(running.claim, 6s);
  CHECK(next_claim_at(s) == T + 6s);
  s.retry(running.claim, "no", 20s);
  CHECK(next_claim_at(s) == T + 9s);
  s.time.advance(1h);
  CHECK(next_claim_at(s) == T + 9s);
}

TEST_CASE("S20: what expired before its claim is dead, and the claim goes on "
          "behind it") {
  store s;
  for (int i = 0; i < 3; ++i)
    s.enqueue(q, "x", {.expires_in = 10s});
  auto good = s.enqueue(q);
  s.time.advance(9999ms);
  CHECK(s.claim(q).id == 1);
  s.time.advance(1ms);
  CHECK(s.claim(q).id == good);
  for (int64_t id : {2, 3}) {
    auto dead = s.get(id);
    CHECK(dead.state == job_state::dead);
    CHECK(dead.last_error == "expired");
    CHECK(dead.died_at == T + 10s);
    CHECK(dead.expires_at == T + 10s);
    CHECK(dead.attempts == 0);
  }
  s.ack(s.get(1).claim);
}

TEST_CASE("a claim buries 500 at most, what is left comes with the next") {
  store s;
  s.write([](transaction& tx) {
    for (int i = 0; i < 501; ++i)
      jobs::enqueue(tx, q, "x", {.expires_in = 1s});
    jobs::enqueue(tx, q, "x");
  });
  s.time.advance(1s);
  CHECK(s.claim(q, 1).empty());
  CHECK(s.number("SELECT count(*) FROM alkstore_dead") == 500);
  CHECK(s.claim(q).id == 502);
  CHECK(s.number("SELECT count(*) FROM alkstore_dead") == 501);
}

namespace {

/// The statements that scanned a table or sorted since the last look.
std::vector<std::string> scanning(const store& s) {
  std::vector<std::string> out;
  sqlite3_stmt* it = nullptr;
  while ((it = sqlite3_next_stmt(s.db.handle(), it)))
    if (sqlite3_stmt_status(it, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1)
          + sqlite3_stmt_status(it, SQLITE_STMTSTATUS_SORT, 1)
        > 0)
      out.push_back(sqlite3_sql(it));
  return out;
}

} // namespace

TEST_CASE("a claim stays on its indexes whatever the application lets ANALYZE "
          "see") {
  store s;
  s.write([](transaction& tx) {
    for (int i = 0; i < 2000; ++i)
      jobs::enqueue(tx, q, "x", {.delay = 1h});
    tx.run("DELETE FROM alkstore_payloads WHERE job_id > 3");
    tx.run("ANALYZE");
  });
  scanning(s);
  s.claim(q, 10);
  CHECK(scanning(s) == std::vector<std::string>{});
}

TEST_CASE("claims and acks stay on their indexes after an ANALYZE that saw a "
          "few jobs") {
  store s;
  auto live = GENERATE(0, 1, 2, 3, 100);
  CAPTURE(live);
  s.write([&](transaction& tx) {
    for (int i = 0; i < live; ++i)
      jobs::enqueue(tx, q, "x");
    tx.run("ANALYZE");
    for (int i = 0; i < 200; ++i)
      jobs::enqueue(tx, q, "x");
  });
  scanning(s);
  auto got = s.claim(q, 10);
  REQUIRE(got.size() == 10);
  s.write([&](transaction& tx) {
    claims::ack(tx, got[0].claim);
    CHECK(claims::ack_neighbours(tx, got[1].claim, 9));
  });
  CHECK(scanning(s) == std::vector<std::string>{});
}
