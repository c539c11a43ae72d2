// Single operations through the writer: what they answer and refuse.
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"

using namespace alkstore;
using namespace alkstore::test;

TEST_CASE("S14: outbox_enqueue stamps 60 s, 5 attempts and 5 s") {
  store_fixture t;
  auto id = t.ask<int64_t>(t.writer, outbox_enqueue{"mail", "hello", {}});
  auto found = t.look_at(id);
  CHECK(found.visibility_timeout == 60s);
  CHECK(found.max_attempts == 5);
  CHECK(found.backoff_base == 5s);
  CHECK(found.payload == "hello");
}

TEST_CASE("S18, S19: a claim whose deadline passed is lost to every message, "
          "and attempts count claims") {
  testing::virtual_clock time;
  store_fixture t{[&](writer_options& o) { o.time = &time; }};
  auto id = t.enqueue_one();
  auto first = t.claim().at(0).claim;
  time.set(first.deadline - 1ms);
  CHECK(t.claim().empty());
  time.set(first.deadline);
  auto all_lost = [&](const claim_handle& x) {
    CHECK(t.ask_error<completed>(t.writer, ack{x}) == errc::claim_lost);
    CHECK(t.ask_error<completed>(t.writer, retry{x, "no", {}})
          == errc::claim_lost);
    CHECK(t.ask_error<completed>(t.writer, fail{x, "no"}) == errc::claim_lost);
    CHECK(t.ask_error<completed>(t.writer, release{x}) == errc::claim_lost);
    CHECK(t.ask_error<claim_handle>(t.writer, heartbeat{x, 1h})
          == errc::claim_lost);
  };
  all_lost(first);
  auto second = t.claim().at(0).claim;
  CHECK(second.number == first.number + 1);
  all_lost(first);
  auto longer = t.ask<claim_handle>(t.writer, heartbeat{second, 1h});
  CHECK(longer.deadline == time.wall_now() + 1h);
  t.ask<completed>(t.writer, release{longer});
  CHECK(t.look_at(id).attempts == 1); // the release gave one back
  auto third = t.claim().at(0).claim;
  all_lost(second);
  t.ask<completed>(t.writer, retry{third, "no", 0ms});
  t.ask<completed>(t.writer, retry{t.claim().at(0).claim, "the last", {}});
  auto dead = t.look_at(id);
  CHECK(dead.state == job_state::dead);
  CHECK(dead.attempts == 3);
  CHECK(dead.last_error == "the last");
}

TEST_CASE("S20, H44: expired before the claim is dead, expired at work may "
          "finish but is not retried") {
  testing::virtual_clock time;
  store_fixture t{[&](writer_options& o) { o.time = &time; }};
  job_options soon;
  soon.expires_in = 10s;
  auto missed = t.enqueue_one("q", "x", soon);
  time.step(10s);
  CHECK(t.claim().empty());
  CHECK(t.look_at(missed).last_error == "expired");
  auto acked = t.enqueue_one("q", "x", soon);
  auto failed = t.enqueue_one("q", "x", soon);
  auto claims = t.claim(2);
  REQUIRE(claims.size() == 2);
  time.step(13s);
  t.ask<completed>(t.writer, ack{claims[0].claim});
  t.ask<completed>(t.writer, retry{claims[1].claim, "500", {}});
  CHECK(t.ask_error<job>(t.reader, get_job{acked}) == errc::not_found);
  CHECK(t.look_at(failed).last_error == "expired");
  CHECK(t.look_at(failed).attempts == 1);
}

TEST_CASE("S3, S12, S2: a refusal is an error with its code, and nothing is "
          "stored") {
  store_fixture t;
  t.enqueue_one("kept");
  neighbour other{t.path()};
  auto text = [&](auto message) {
    auto got = t.try_ask<int64_t>(t.writer, std::move(message));
    CHECK(got.code != errc{});
    return got.text;
  };
  auto code = [&](auto message) {
    return t.ask_error<int64_t>(t.writer, std::move(message));
  };
  job_options low;
  low.priority = -33;
  CHECK(code(enqueue{"a b", "x", {}}) == errc::invalid_name);
  CHECK(code(enqueue{"__alkstore_outbox:x", "x", {}}) == errc::reserved_name);
  CHECK(code(outbox_enqueue{"__alkstorex", "x", {}}) == errc::reserved_name);
  CHECK(code(enqueue{"q", "x", low}) == errc::invalid_argument);
  CHECK(code(enqueue{"q", std::string(1024 * 1024 + 1, 'x'), {}})
        == errc::payload_too_large);
  CHECK(text(enqueue{"a b", "x", {}}).find("a b") != std::string::npos);
  CHECK(t.ask_error<std::vector<job>>(t.writer,
                                      claim_jobs{"__alkstore_outbox:x", "w", 1})
        == errc::reserved_name);
  CHECK(t.ask_error<std::vector<job>>(t.writer, claim_jobs{"q", "w", 0})
        == errc::invalid_argument);
  CHECK(t.ask_error<std::vector<int64_t>>(
          t.writer, enqueue_many{{{"q", "x", {}}, {"q", "x", low}}})
        == errc::invalid_argument);
  CHECK(t.ask_error<schedule>(t.writer,
                              add_schedule{{"s", "@every 5", "q", "x", {}}})
        == errc::invalid_spec);
  CHECK(
    t.ask_error<lease>(t.writer, acquire_lock{"__alkstore_scheduler", "me", 1s})
    == errc::reserved_name);
  CHECK(other.jobs() == 1);
  CHECK(t.ask<std::vector<schedule>>(t.reader, list_schedules{}).empty());
}

TEST_CASE("S1, S4, S11: schedules by message") {
  store_fixture t;
  auto stored = t.ask<schedule>(t.writer,
                                add_schedule{{"s", "@every 1h", "q", "x", {}}});
  CHECK(stored == t.ask<schedule>(t.reader, get_schedule{"s"}));
  CHECK(t.ask<bool>(t.writer, pause_schedule{"s"}));
  CHECK_FALSE(t.ask<bool>(t.writer, pause_schedule{"s"}));
  CHECK(t.ask<schedule>(t.reader, get_schedule{"s"}).paused);
  CHECK(t.ask<bool>(t.writer, resume_schedule{"s"}));
  CHECK_FALSE(t.ask<bool>(t.writer, resume_schedule{"s"}));
  CHECK(t.ask<bool>(t.writer, remove_schedule{"s"}));
  CHECK_FALSE(t.ask<bool>(t.writer, remove_schedule{"s"}));
  CHECK(t.ask_error<bool>(t.writer, pause_schedule{"s"}) == errc::not_found);
}

TEST_CASE("S21, H21, H28: locks by message have one holder, growing tokens "
          "and one rule at the deadline") {
  testing::virtual_clock time;
  store_fixture t{[&](writer_options& o) { o.time = &time; }};
  auto acquire = [&](const char* who) {
    return t.ask<lease>(t.writer, acquire_lock{"l", who, 60s});
  };
  auto a = acquire("a");
  CHECK(a.token == 1);
  CHECK(acquire("b").token == 0);
  time.step(60s - 1ms);
  CHECK(acquire("b").token == 0);
  a = t.ask<lease>(t.writer, renew_lock{a});
  time.set(a.expires_at);
  CHECK(t.ask_error<lease>(t.writer, renew_lock{a}) == errc::lock_lost);
  auto b = acquire("b");
  CHECK(b.token == 2);
  CHECK_FALSE(t.ask<bool>(t.writer, release_lock{a}));
  CHECK(acquire("c").token == 0);
  CHECK(t.ask<bool>(t.writer, release_lock{b}));
  CHECK(acquire("c").token == 3);
}

TEST_CASE("H74: a repeat with the same dedupe key after a time-out is the "
          "same job") {
  store_fixture t;
  neighbour other{t.path()};
  job_options keyed;
  keyed.dedupe_key = "k";
  other.hold();
  caf::error late;
  port::ask(t.self, 100ms, t.writer, enqueue{"q", "x", keyed})
    .receive([](int64_t) { FAIL("answered though the store was locked"); },
             [&](const caf::error& why) { late = why; });
  CHECK(late == caf::sec::request_timeout);
  CHECK(port::text(t.sys, late).find("outcome unknown") != std::string::npos);
  other.let_go();
  auto id = t.enqueue_one("q", "x", keyed);
  CHECK(other.jobs() == 1);
  t.ask<completed>(t.writer, ack{t.claim().at(0).claim});
  CHECK(t.enqueue_one("q", "x", keyed) == id); // done already
  CHECK(other.jobs() == 0);
}

TEST_CASE("H42: cancel against claim: a job that was cancelled is nowhere") {
  store_fixture t;
  neighbour other{t.path()};
  for (int round = 0; round < 300; ++round) {
    auto id = t.enqueue_one();
    auto claimed = port::ask(t.self, patience, t.writer,
                             claim_jobs{"q", "w", 1});
    auto cancelled = port::ask(t.self, patience, t.writer, cancel_job{id});
    std::vector<job> got;
    bool gone = false;
    std::move(claimed).receive([&](std::vector<job>& x) { got = std::move(x); },
                               [](const caf::error&) { FAIL("claim"); });
    std::move(cancelled).receive([&](bool x) { gone = x; },
                                 [](const caf::error&) { FAIL("cancel"); });
    REQUIRE(gone);
    REQUIRE(got.size() == 1);
    REQUIRE(t.ask_error<completed>(t.writer, ack{got[0].claim})
            == errc::claim_lost);
    REQUIRE(t.ask_error<completed>(t.writer, retry{got[0].claim, "no", {}})
            == errc::claim_lost);
  }
  CHECK(other.number("SELECT (SELECT count(*) FROM alkstore_jobs)"
                     " + (SELECT count(*) FROM alkstore_dead)"
                     " + (SELECT count(*) FROM alkstore_payloads)")
        == 0);
}

TEST_CASE("A writer that cannot open its file throws, and the actor system "
          "still ends") {
  system_fixture t;
  auto options = t.store_options();
  options.path = t.dir.path("no/such/folder/store.db");
  CHECK_THROWS_AS(spawn_writer(t.sys, options), failure);
  CHECK_THROWS_AS(spawn_writer(t.sys, options, placement::pooled), failure);
}

TEST_CASE("An orderly stop answers what came before it, refuses what comes "
          "after, and leaves no WAL") {
  system_fixture t;
  auto writer = spawn_writer(t.sys, t.store_options());
  neighbour other{t.path()};
  other.hold();
  auto before = port::ask(t.self, patience, writer, enqueue{"q", "x", {}});
  auto stopped = port::ask(t.self, patience, writer, stop{});
  auto again = port::ask(t.self, patience, writer, stop{});
  auto after = port::ask(t.self, patience, writer, enqueue{"q", "x", {}});
  std::move(after).receive(
    [](int64_t) { FAIL("taken after the stop"); },
    [](const caf::error& why) { CHECK(code_of(why) == errc::shutting_down); });
  other.let_go();
  int answers = 0;
  std::move(before).receive([&](int64_t) { ++answers; },
                            [](const caf::error&) {});
  std::move(stopped).receive([&](completed) { ++answers; },
                             [](const caf::error&) {});
  std::move(again).receive([&](completed) { ++answers; },
                           [](const caf::error&) {});
  CHECK(answers == 3);
  CHECK(t.wait_end(writer) == caf::exit_reason::normal);
  CHECK(std::filesystem::file_size(t.path() + "-wal") == 0);
  CHECK(other.jobs() == 1);
}

TEST_CASE("H71: a writer that is killed answers everything that waits in it") {
  system_fixture t;
  auto writer = spawn_writer(t.sys, t.store_options());
  neighbour other{t.path()};
  other.hold();
  std::vector<enqueue> many(50, enqueue{"q", "x", {}});
  auto answers = t.ask_all<int64_t>(
    writer, many, [&] { caf::anon_send_exit(writer, caf::exit_reason::kill); });
  for (auto& x : answers)
    CHECK_FALSE(x.value);
  other.let_go();
  CHECK(other.jobs() == 0);
  t.wait_gone(writer);
}
