#include "tests/substrate/fixture.hpp"
#include "tests/substrate/processes.hpp"

#include <signal.h>
#include <unistd.h>

#include <random>

using namespace alkstore;

namespace {

int64_t dead_job(store& s, const job_options& options = {}) {
  auto id = s.enqueue(q, "payload", options);
  s.fail(s.claim(q, "a").claim, "broken");
  return id;
}

bool requeue(store& s, int64_t id) {
  return s.write(
    [&](transaction& tx) { return dead_letters::requeue(tx, id); });
}

bool remove(store& s, int64_t id) {
  return s.write([&](transaction& tx) { return dead_letters::remove(tx, id); });
}

} // namespace

TEST_CASE("H47: a requeued dead letter is the same job with all its attempts, "
          "once") {
  store s;
  auto id = s.enqueue(q, "payload", {.priority = 3, .expires_in = 1h});
  for (int i = 0; i < 3; ++i)
    s.retry(s.claim(q).claim, "500", 0ms);
  auto dead = s.get(id);
  CHECK(dead.attempts == 3);
  s.time.advance(2h);
  CHECK(requeue(s, id));
  {
    witness unchanged{s};
    CHECK_FALSE(requeue(s, id));
    CHECK_FALSE(requeue(s, 99));
    CHECK(unchanged.saw_nothing());
  }
  auto again = s.get(id);
  CHECK(again.state == job_state::waiting);
  CHECK(again.stable_id == dead.stable_id);
  CHECK(again.payload == "payload");
  CHECK(again.attempts == 0);
  CHECK(again.claim.number == 3);
  CHECK(again.priority == 3);
  CHECK(again.enqueued_at == T);
  CHECK(again.run_at == T + 2h);
  CHECK(again.expires_at == std::nullopt);
  CHECK(again.died_at == std::nullopt);
  auto claimed = s.claim(q);
  CHECK(claimed.attempts == 1);
  CHECK(claimed.claim.number == 4);
  s.ack(claimed.claim);
  CHECK_FALSE(requeue(s, id));
}

TEST_CASE("requeueing onto a key that another holds is a duplicate") {
  store s;
  job_options keyed{.expires_in = 1h, .dedupe_key = "k"};
  auto id = dead_job(s, keyed);
  auto holder = s.enqueue(q, "x", keyed);
  auto again = [&] { requeue(s, id); };
  SECTION("a live job holds it") {
    witness unchanged{s};
    CHECK(error_of(again) == errc::duplicate);
    CHECK(text_of(again) == "dead letter 1: job 2 holds its dedupe key");
    CHECK(unchanged.saw_nothing());
  }
  SECTION("an unlapsed mark holds it") {
    s.ack(s.claim(q).claim);
    s.time.set(T + 24h - 1ms);
    CHECK(error_of(again) == errc::duplicate);
    s.time.set(T + 24h);
    CHECK(requeue(s, id));
    CHECK(s.enqueue(q, "x", keyed) == id);
  }
  SECTION("the live job expired") {
    s.time.set(T + 1h);
    CHECK(requeue(s, id));
    CHECK(s.get(holder).last_error == "expired");
    CHECK(s.enqueue(q, "x", keyed) == id);
  }
}

TEST_CASE("dead letters are listed by queue in id order, and got whole") {
  store s;
  for (int i = 0; i < 3; ++i)
    dead_job(s);
  s.enqueue(box);
  s.fail(s.claim(box).claim);
  transaction tx{s.db, transaction::access::read};
  auto page = dead_letters::list(tx, q, 1, 2);
  REQUIRE(page.size() == 2);
  CHECK(page[0].id == 2);
  CHECK(page[1].id == 3);
  CHECK(page[0].state == job_state::dead);
  CHECK(page[0].last_error == "broken");
  CHECK(page[0].died_at == T);
  CHECK(page[0].payload.empty());
  CHECK(dead_letters::list(tx, box, 0, 9).size() == 1);
  auto all = dead_letters::list(tx, {}, 1, 9);
  REQUIRE(all.size() == 3);
  CHECK(all[2].queue == box.text());
  CHECK(dead_letters::get(tx, 3).payload == "payload");
  CHECK(error_of([&] { dead_letters::get(tx, 5); }) == errc::not_found);
  CHECK(text_of([&] { jobs::get(tx, 5); })
        == "job 5: no live job and no dead letter");
}

TEST_CASE("a removed dead letter takes its payload along, and no live job is "
          "touched") {
  store s;
  auto id = dead_job(s);
  auto alive = s.enqueue(q);
  CHECK_FALSE(remove(s, alive));
  CHECK(remove(s, id));
  CHECK_FALSE(remove(s, id));
  CHECK(error_of([&] { s.get(id); }) == errc::not_found);
  CHECK(s.get(alive).payload == "x");
  CHECK(s.number("SELECT count(*) FROM alkstore_payloads") == 1);
}

TEST_CASE("retention removes the oldest first, in bounded pieces") {
  store s;
  for (int i = 0; i < 5; ++i) {
    dead_job(s);
    s.time.advance(1s);
  }
  auto prune = [&](timestamp until) {
    return s.write([&](transaction& tx) {
      return dead_letters::remove_older(tx, until, 2);
    });
  };
  CHECK(prune(T - 1ms) == 0);
  CHECK(prune(T + 2s) == 2);
  CHECK(s.number("SELECT min(id) FROM alkstore_dead") == 3);
  CHECK(prune(T + 2s) == 1);
  CHECK(prune(T + 2s) == 0);
  CHECK(s.number("SELECT count(*) FROM alkstore_dead") == 2);
  CHECK(s.number("SELECT count(*) FROM alkstore_payloads") == 2);
}

TEST_CASE("H64: a SIGKILL in the middle of the deletion leaves a file that is "
          "whole, and the next one goes on") {
  temp_dir dir;
  auto path = dir / "store.db";
  open_options quick{.sync = durability::normal};
  // Each in a process of its own: a child must not inherit an open store.
  auto in_child = [](auto work) {
    auto child = fork_child([&] {
      work();
      return 0;
    });
    CHECK(wait_for(child) == 0);
  };
  in_child([&] {
    connection db{path, quick};
    for (int i = 0; i < 4; ++i) {
      transaction tx{db};
      for (int j = 0; j < 500; ++j)
        jobs::enqueue(tx, q, "x", {.max_attempts = 1});
      for (auto& x : claims::claim(tx, q, "w", 500))
        claims::fail(tx, x.claim, "no");
      tx.commit();
    }
  });
  std::minstd_rand random{std::random_device{}()};
  for (int kills = 0; kills < 10; ++kills) {
    auto child = fork_child([&] {
      connection db{path, quick};
      for (;;) {
        transaction tx{db};
        dead_letters::remove_older(tx, tx.now(), 20);
        tx.commit();
      }
      return 0;
    });
    ::usleep(1000 + random() % 5000);
    ::kill(child, SIGKILL);
    CHECK(wait_for(child) == -1);
    in_child([&] {
      connection db{path, quick};
      auto same = db.sql("SELECT (SELECT count(*) FROM alkstore_dead)"
                         " = (SELECT count(*) FROM alkstore_payloads)");
      auto whole = db.sql("PRAGMA integrity_check");
      same.step();
      whole.step();
      if (same.integer(0) != 1 || whole.bytes(0) != "ok")
        throw failure{errc::corrupt, "it is not whole"};
    });
  }
}
