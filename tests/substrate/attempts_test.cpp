#include "tests/substrate/fixture.hpp"

using namespace alkstore;

namespace {

int sweep(store& s, int max = 500) {
  return s.write([&](transaction& tx) { return jobs::sweep_expired(tx, max); });
}

int64_t live(store& s) {
  return s.number("SELECT count(*) FROM alkstore_jobs");
}

} // namespace

TEST_CASE("H48: the delay doubles up to an hour and never overflows") {
  auto after = [](int attempt) { return claims::retry_delay(1s, attempt); };
  CHECK(after(1) == 1s);
  CHECK(after(2) == 2s);
  CHECK(after(3) == 4s);
  CHECK(after(12) == 2048s);
  for (int attempt : {13, 31, 32, 33, 40, 63, 64, 65, 1000000})
    CHECK(after(attempt) == 3600s);
  CHECK(claims::retry_delay(1ms, 22) == 2097152ms);
  CHECK(claims::retry_delay(1ms, 23) == 1h);
  CHECK(claims::retry_delay(2h, 1) == 1h);
  CHECK(claims::retry_delay(millis::max(), 3) == 1h);
}

TEST_CASE("H49: the first retry waits for the base, the next ones twice the "
          "one before") {
  store s;
  auto id = s.enqueue(q, "x", {.max_attempts = 9, .backoff_base = 10s});
  auto now = T;
  for (auto wait : {10s, 20s, 40s, 80s}) {
    s.retry(s.claim(q).claim);
    now += wait;
    CHECK(s.get(id).run_at == now);
    s.time.set(now - 1ms);
    CHECK(s.claim(q, 1).empty());
    s.time.set(now);
  }
}

TEST_CASE("H46: a job runs exactly max_attempts times") {
  store s;
  for (int most : {1, 2, 3, 10}) {
    auto id = s.enqueue(q, "x", {.max_attempts = most});
    auto runs = 0;
    for (auto found = s.claim(q, 1); !found.empty(); found = s.claim(q, 1)) {
      CHECK(found.front().attempts == ++runs);
      s.retry(found.front().claim, "500", 0ms);
      CHECK(s.number("SELECT count(*) FROM alkstore_jobs"
                     " WHERE attempts >= max_attempts")
            == 0);
    }
    CHECK(runs == most);
    CHECK(s.get(id).state == job_state::dead);
    CHECK(s.get(id).attempts == most);
    CHECK(s.get(id).last_error == "500");
  }
}

TEST_CASE("S19: with three attempts the third failure is the last") {
  store s;
  auto id = s.enqueue(q);
  for (auto error : {"one", "two", "three"}) {
    CHECK(s.get(id).state == job_state::waiting);
    s.retry(s.claim(q).claim, error, 0ms);
    CHECK(s.get(id).last_error == error);
  }
  CHECK(s.get(id).state == job_state::dead);
}

TEST_CASE("S19: a crash on the third attempt leaves a dead letter") {
  store s;
  auto id = s.enqueue(q, "x", {.visibility_timeout = 30s});
  s.retry(s.claim(q).claim, "one", 0ms);
  s.claim(q);
  s.time.advance(30s);
  s.claim(q);
  s.time.advance(29999ms);
  CHECK(sweep(s) == 0);
  CHECK(s.get(id).state == job_state::running);
  s.time.advance(1ms);
  SECTION("by the next claim") {
    CHECK(s.claim(q, 1).empty());
  }
  SECTION("by the sweep") {
    CHECK(sweep(s) == 1);
  }
  auto dead = s.get(id);
  CHECK(dead.state == job_state::dead);
  CHECK(dead.attempts == 3);
  CHECK(dead.last_error == "max attempts exceeded");
  CHECK(dead.died_at == T + 60s);
}

TEST_CASE("H45: a crash on the only attempt leaves a dead letter, and nobody "
          "wakes for it again") {
  store s;
  auto id = s.enqueue(q, "x", {.max_attempts = 1, .visibility_timeout = 30s});
  s.claim(q);
  s.time.advance(60s);
  CHECK(s.claim(q, 1, "another").empty());
  CHECK(s.get(id).state == job_state::dead);
  CHECK(s.get(id).attempts == 1);
  CHECK(s.get(id).last_error == "max attempts exceeded");
  CHECK(live(s) == 0);
  transaction tx{s.db, transaction::access::read};
  CHECK(claims::next_claim_at(tx, q) == std::nullopt);
}

TEST_CASE("H38: an error text of bytes and filler ends in one dead letter, and "
          "the next job runs") {
  store s;
  auto poison = s.enqueue(q);
  auto next = s.enqueue(q, "x", {.priority = -1});
  auto error = std::string{"\xFF\0bad", 5} + std::string(2 << 20, 'f');
  for (int i = 0; i < 3; ++i)
    s.retry(s.claim(q).claim, error, 0ms);
  auto dead = s.get(poison);
  CHECK(dead.state == job_state::dead);
  CHECK(dead.attempts == 3);
  CHECK(dead.last_error
        == "\xEF\xBF\xBD\xEF\xBF\xBD"
           "bad"
             + std::string(4096 - 9, 'f'));
  CHECK(s.claim(q).id == next);
}

TEST_CASE("H44, S20: a job that expires while it runs is left to its worker") {
  store s;
  auto id = s.enqueue(q, "x", {.expires_in = 10s, .visibility_timeout = 30s});
  s.time.set(T + 8s);
  auto claim = s.claim(q).claim;
  s.time.set(T + 11s);
  CHECK(sweep(s) == 0);
  CHECK(s.get(id).state == job_state::running);
  s.time.set(T + 13s);
  SECTION("its ack counts") {
    s.ack(claim);
    CHECK(error_of([&] { s.get(id); }) == errc::not_found);
    CHECK(s.number("SELECT count(*) FROM alkstore_dead") == 0);
  }
  SECTION("its failure is not retried") {
    s.retry(claim, "500");
    CHECK(s.get(id).state == job_state::dead);
    CHECK(s.get(id).last_error == "expired");
    CHECK(s.get(id).attempts == 1);
    CHECK(live(s) == 0);
  }
  SECTION("its crash ends it") {
    s.time.set(T + 38s);
    CHECK(sweep(s) == 1);
    CHECK(s.get(id).last_error == "expired");
    CHECK(s.get(id).died_at == T + 38s);
  }
}

TEST_CASE("S20: the sweep buries what expired unclaimed, in bounded pieces") {
  store s;
  for (int i = 0; i < 5; ++i)
    s.enqueue(q, "x", {.delay = 1h, .expires_in = 10s});
  auto kept = s.enqueue(q, "x", {.expires_in = 11s});
  s.time.advance(9999ms);
  CHECK(sweep(s) == 0);
  s.time.advance(1ms);
  CHECK(sweep(s, 2) == 2);
  CHECK(sweep(s, 2) == 2);
  CHECK(sweep(s, 2) == 1);
  CHECK(sweep(s, 2) == 0);
  CHECK(s.get(kept).state == job_state::waiting);
  CHECK(s.number("SELECT count(*) FROM alkstore_dead"
                 " WHERE last_error = 'expired'")
        == 5);
}
