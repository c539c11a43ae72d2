// Two connections at the same moment, in two processes or two threads.
#include "tests/substrate/fixture.hpp"
#include "tests/substrate/processes.hpp"

#include <barrier>
#include <thread>

using namespace alkstore;

namespace {

// Each round two processes that both hold the lease tick at the same `now`.
void check_ticks(int rounds) {
  temp_dir dir;
  auto path = dir / "store.db";
  process_barrier start{2};
  auto fired = in_children(2, [&](int child) {
    manual_clock time;
    std::optional<connection> db;
    if (child == 0) {
      db.emplace(path, open_options{}, time);
      transaction tx{*db};
      schedules::add(tx, {"s", "@every 10s", "q", "p", {}});
      leases::acquire(tx, leases::scheduler, "a", 8760h);
      tx.commit();
    }
    start.wait();
    if (child == 1)
      db.emplace(path, open_options{}, time);
    lease lead{std::string{leases::scheduler}, "a", 1};
    auto clean = 0;
    for (int i = 0; i < rounds; ++i) {
      time.advance(10s);
      start.wait();
      transaction tx{*db};
      auto report = schedules::tick(tx, lead);
      tx.commit();
      clean += report.fired.size() <= 1 && report.skipped.empty();
    }
    return clean == rounds ? 0 : 1;
  });
  CHECK(fired == std::vector{0, 0});
  connection db{path, {}};
  transaction tx{db};
  auto one = [&](const char* sql) {
    auto row = tx.sql(sql);
    row.step();
    return row.integer(0);
  };
  CHECK(one("SELECT count(*) FROM alkstore_jobs") == rounds);
  CHECK(one("SELECT count(DISTINCT fire_at) FROM alkstore_jobs") == rounds);
  CHECK(one("SELECT count(*) FROM alkstore_payloads") == rounds);
}

// Each round a worker's claim meets a cancel.
void check_cancels(int rounds) {
  store s;
  connection other{s.db.path(), {}, s.time};
  auto cancelled = 0, acked = 0;
  int64_t id = 0;
  std::barrier start{2}, settled{2};
  std::thread canceller{[&] {
    for (int i = 0; i < rounds; ++i) {
      start.arrive_and_wait();
      {
        transaction tx{other};
        cancelled += jobs::cancel(tx, id);
        tx.commit();
      }
      settled.arrive_and_wait();
    }
  }};
  auto lost = 0;
  for (int i = 0; i < rounds; ++i) {
    id = s.enqueue(q);
    start.arrive_and_wait();
    auto found = s.claim(q, 1);
    auto settle = [&] {
      i % 2 ? s.ack(found[0].claim) : s.fail(found[0].claim);
    };
    auto error = found.empty() ? errc::claim_lost : error_of(settle);
    error == errc{} ? ++acked : ++lost;
    settled.arrive_and_wait();
    lost += error != errc{} && error != errc::claim_lost;
  }
  canceller.join();
  CHECK(lost == cancelled);
  CHECK(acked == rounds - cancelled);
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 0);
  CHECK(s.number("SELECT count(*) FROM alkstore_payloads"
                 " WHERE job_id NOT IN (SELECT id FROM alkstore_dead)")
        == 0);
}

} // namespace

TEST_CASE("H08: two leaders in two processes fire each boundary once") {
  check_ticks(200);
}

TEST_CASE("H08: the same over 1000 rounds", "[slow]") {
  check_ticks(1000);
}

TEST_CASE(
  "H42: a cancel that meets a claim wins or loses, and the job is never "
  "pending again") {
  check_cancels(200);
}

TEST_CASE("H42: the same over 1000 rounds", "[slow]") {
  check_cancels(1000);
}

TEST_CASE("H42: in each order of claim, cancel and settlement the later one "
          "learns it") {
  store s;
  auto cancel = [&](int64_t id) {
    return s.write([&](transaction& tx) { return jobs::cancel(tx, id); });
  };
  auto id = s.enqueue(q);
  SECTION("cancel, then claim") {
    CHECK(cancel(id));
    CHECK(s.claim(q, 1).empty());
  }
  SECTION("claim, cancel, then ack or retry") {
    auto claim = s.claim(q).claim;
    CHECK(cancel(id));
    CHECK(error_of([&] { s.ack(claim); }) == errc::claim_lost);
    CHECK(error_of([&] { s.retry(claim); }) == errc::claim_lost);
  }
  SECTION("claim, ack, then cancel") {
    s.ack(s.claim(q).claim);
    CHECK_FALSE(cancel(id));
  }
  SECTION("claim, fail, then cancel: the dead letter stays") {
    s.fail(s.claim(q).claim);
    CHECK_FALSE(cancel(id));
    CHECK(s.get(id).state == job_state::dead);
  }
  SECTION("claim, retry, then cancel") {
    s.retry(s.claim(q).claim);
    CHECK(cancel(id));
  }
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 0);
}

TEST_CASE("S21: of two processes that ask at the same moment one gets the "
          "lease") {
  temp_dir dir;
  auto path = dir / "store.db";
  constexpr int rounds = 100;
  process_barrier start{2};
  auto won = in_children(2, [&](int child) {
    manual_clock time;
    connection db{path, {}, time};
    auto wins = 0;
    for (int i = 0; i < rounds; ++i) {
      start.wait();
      transaction tx{db};
      auto taken = leases::acquire(tx, "lock", std::to_string(child), 10s);
      tx.commit();
      wins += taken.has_value();
      time.advance(10s);
      start.wait();
    }
    return wins;
  });
  CHECK(won[0] + won[1] == rounds);
}
