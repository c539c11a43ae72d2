#include "tests/substrate/fixture.hpp"

#include <functional>

using namespace alkstore;

namespace {

// Each way to settle a claim, or to keep it.
std::vector<std::function<void(claim_handle)>> settlements(store& s) {
  return {[&](claim_handle x) { s.ack(x); },
          [&](claim_handle x) { s.retry(x, "late"); },
          [&](claim_handle x) { s.retry(x, "late", 0ms); },
          [&](claim_handle x) { s.fail(x, "late"); },
          [&](claim_handle x) { s.heartbeat(x, 1h); },
          [&](claim_handle x) { s.release(x); }};
}

void check_all_lost(store& s, const claim_handle& claim) {
  witness unchanged{s};
  for (auto& settle : settlements(s))
    CHECK(error_of([&] { settle(claim); }) == errc::claim_lost);
  CHECK(unchanged.saw_nothing());
}

} // namespace

TEST_CASE("S18: a claim holds to the last millisecond before its deadline") {
  store s;
  for (auto& settle : settlements(s)) {
    s.enqueue(q, "x", {.visibility_timeout = 30s});
    auto claim = s.claim(q).claim;
    s.time.advance(29999ms);
    CHECK(error_of([&] { settle(claim); }) == errc{});
    s.write([&](transaction& tx) { jobs::cancel(tx, claim.job); });
  }
}

TEST_CASE("S18: after the deadline everything is claim_lost and the job is "
          "claimable") {
  store s;
  auto id = s.enqueue(q, "x", {.visibility_timeout = 30s});
  auto claim = s.claim(q, "a").claim;
  s.time.advance(30s);
  check_all_lost(s, claim);
  CHECK(text_of([&] { s.ack(claim); })
        == "job 1, claim 1: its deadline passed, or the job was settled, "
           "cancelled or claimed anew");
  SECTION("by another worker") {
    auto next = s.claim(q, "b");
    CHECK(next.claim == claim_handle{id, 2, T + 60s});
    CHECK(next.attempts == 2);
    check_all_lost(s, claim);
    s.ack(next.claim);
  }
  SECTION("by the same worker, whose old handle stays lost") {
    auto next = s.claim(q, "a");
    CHECK(next.claim.number == 2);
    check_all_lost(s, claim);
    s.ack(next.claim);
  }
  CHECK(error_of([&] { s.get(id); }) == errc::not_found);
}

TEST_CASE("S18: an older handle stays lost after release, retry and requeue") {
  store s;
  s.enqueue(q, "x", {.max_attempts = 2});
  auto first = s.claim(q).claim;
  s.release(first);
  check_all_lost(s, first);
  auto second = s.claim(q).claim;
  CHECK(second.number == 2);
  s.retry(second, "no", 1s);
  check_all_lost(s, second);
  s.time.advance(1s);
  auto third = s.claim(q).claim;
  CHECK(third.number == 3);
  s.fail(third);
  check_all_lost(s, third);
  s.write([&](transaction& tx) { dead_letters::requeue(tx, third.job); });
  auto fourth = s.claim(q);
  CHECK(fourth.claim.number == 4);
  CHECK(fourth.attempts == 1);
  check_all_lost(s, third);
  s.ack(fourth.claim);
  check_all_lost(s, fourth.claim);
}

TEST_CASE("H39: a late heartbeat does not take a job back") {
  store s;
  auto id = s.enqueue(q, "x", {.visibility_timeout = 30s});
  auto a = s.claim(q, "a").claim;
  s.time.set(T + 31s);
  SECTION("from the worker that has it now") {
    auto b = s.claim(q, "b").claim;
    s.time.set(T + 32s);
    CHECK(error_of([&] { s.heartbeat(a, 30s); }) == errc::claim_lost);
    s.time.set(T + 33s);
    CHECK(error_of([&] { s.ack(a); }) == errc::claim_lost);
    CHECK(s.get(id).worker == "b");
    CHECK(s.get(id).claim == claim_handle{id, 2, T + 61s});
    CHECK(error_of([&] { s.ack(b); }) == errc{});
  }
  SECTION("when nobody has it") {
    CHECK(error_of([&] { s.heartbeat(a, 30s); }) == errc::claim_lost);
    CHECK(s.claim(q, "b").claim.number == 2);
  }
}

TEST_CASE("a heartbeat extends from now and never shortens") {
  store s;
  auto id = s.enqueue(q, "x", {.visibility_timeout = 30s});
  auto claim = s.claim(q).claim;
  s.time.advance(10s);
  CHECK(s.heartbeat(claim, 5s) == claim_handle{id, 1, T + 30s});
  auto extended = s.heartbeat(claim, 40s);
  CHECK(extended == claim_handle{id, 1, T + 50s});
  CHECK(s.get(id).claim == extended);
  s.time.set(T + 49s);
  CHECK(error_of([&] { s.ack(claim); }) == errc{});
}

TEST_CASE("a heartbeat or a retry out of range is refused and changes "
          "nothing") {
  store s;
  s.enqueue(q);
  auto claim = s.claim(q).claim;
  witness unchanged{s};
  for (auto extend : {0ms, -1ms, millis::max()})
    CHECK(error_of([&] { s.heartbeat(claim, extend); })
          == errc::invalid_argument);
  for (auto delay : {-1ms, millis::max()})
    CHECK(error_of([&] { s.retry(claim, "no", delay); })
          == errc::invalid_argument);
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("release gives the attempt back and keeps the job's place") {
  store s;
  auto id = s.enqueue(q, "x", {.max_attempts = 1});
  for (int64_t number = 1; number <= 5; ++number) {
    auto got = s.claim(q);
    CHECK(got.attempts == 1);
    CHECK(got.claim.number == number);
    s.time.advance(1s);
    s.release(got.claim);
    auto waiting = s.get(id);
    CHECK(waiting.state == job_state::waiting);
    CHECK(waiting.attempts == 0);
    CHECK(waiting.run_at == T);
  }
}

TEST_CASE("retry sets run_at to now plus the delay, an explicit one wins") {
  store s;
  auto id = s.enqueue(q);
  s.time.advance(1s);
  s.retry(s.claim(q).claim, "first");
  CHECK(s.get(id).run_at == T + 6s);
  CHECK(s.get(id).last_error == "first");
  CHECK(s.get(id).state == job_state::waiting);
  s.time.set(T + 6s);
  s.retry(s.claim(q).claim, "second", 0ms);
  CHECK(s.get(id).run_at == T + 6s);
  CHECK(s.claim(q).last_error == "second");
}

TEST_CASE("fail is dead at once, with the error and the payload") {
  store s;
  auto id = s.enqueue(q, "payload");
  auto claimed = s.claim(q, "a");
  s.time.advance(2s);
  s.fail(claimed.claim, "410 Gone");
  auto dead = s.get(id);
  CHECK(dead.state == job_state::dead);
  CHECK(dead.last_error == "410 Gone");
  CHECK(dead.died_at == T + 2s);
  CHECK(dead.attempts == 1);
  CHECK(dead.worker == "a");
  CHECK(dead.payload == "payload");
  CHECK(dead.stable_id == claimed.stable_id);
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 0);
}

TEST_CASE("an ack leaves nothing of the job behind") {
  store s;
  s.enqueue(q);
  s.ack(s.claim(q).claim);
  CHECK(s.number("SELECT (SELECT count(*) FROM alkstore_jobs)"
                 " + (SELECT count(*) FROM alkstore_payloads)"
                 " + (SELECT count(*) FROM alkstore_dedupe)"
                 " + (SELECT count(*) FROM alkstore_dead)")
        == 0);
}
