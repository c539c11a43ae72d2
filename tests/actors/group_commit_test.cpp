// Many messages, one transaction: in which order they are committed and
// answered, and what a failing one or a failing COMMIT means for the others.
#include "tests/actors/faulty_disk.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"

#include <set>

using namespace alkstore;
using namespace alkstore::test;

namespace {

std::vector<enqueue> some_jobs(size_t count, size_t bytes = 1) {
  return {count, enqueue{"q", std::string(bytes, 'x'), {}}};
}

void check_all(const std::vector<answer<int64_t>>& answers, errc code) {
  for (auto& x : answers) {
    INFO(x.text);
    CHECK(x.code == code);
  }
}

constexpr auto commits = "SELECT count(DISTINCT enqueued_at)"
                         " FROM alkstore_jobs";

/// Returns once all that this test has sent is in the writer's line: a grant is
/// answered in its turn, without the lock, and this one changes nothing.
void await_line(store_fixture& t) {
  grant nameless{t.playing<consumer_actor>(), "", false, "me", 1, 1};
  CHECK(t.ask_error<completed>(t.writer, nameless) == errc::invalid_name);
}

} // namespace

TEST_CASE("S22: an answer comes after the commit: a second connection sees "
          "the row when it is there") {
  store_fixture t;
  neighbour other{t.path()};
  for (int64_t n = 1; n <= 200; ++n) {
    t.enqueue_one();
    REQUIRE(other.jobs() == n);
  }
  // The same for the members of one batch, at the first one's answer.
  other.hold();
  std::vector<decltype(port::ask(t.self, patience, t.writer, enqueue{}))> all;
  for (int i = 0; i < 100; ++i)
    all.push_back(port::ask(t.self, patience, t.writer, enqueue{"b", "x", {}}));
  await_line(t);
  other.let_go();
  int64_t last = 0;
  for (auto& x : all)
    std::move(x).receive(
      [&](int64_t id) {
        CHECK(id > last); // in the order of the requests
        last = id;
        CHECK(other.number("SELECT count(*) FROM alkstore_jobs"
                           " WHERE queue = 'b'")
              == 100);
      },
      [](const caf::error&) { FAIL("refused"); });
}

TEST_CASE("S22: what was gathered while the lock was not to be had shares one "
          "commit") {
  store_fixture t;
  neighbour other{t.path()};
  other.hold();
  auto got = t.ask_all<int64_t>(t.writer, some_jobs(500), [&] {
    await_line(t);
    other.let_go();
  });
  check_all(got, errc{});
  CHECK(other.jobs() == 500);
  CHECK(other.number(commits) <= 5); // one reading of the clock each
}

TEST_CASE("S23: an operation that fails in a batch fails alone") {
  store_fixture t;
  neighbour other{t.path()};
  auto lost = t.enqueue_one("q", "x");
  auto claim = t.claim().at(0).claim;
  t.ask<completed>(t.writer, ack{claim});
  static_cast<void>(lost);
  other.hold();
  job_options bad;
  bad.max_attempts = 0;
  auto first = port::ask(t.self, patience, t.writer, enqueue{"q", "1", {}});
  auto second = port::ask(t.self, patience, t.writer, enqueue{"q", "2", bad});
  auto third = port::ask(t.self, patience, t.writer, ack{claim});
  auto fourth = port::ask(t.self, patience, t.writer, enqueue{"q", "4", {}});
  await_line(t);
  other.let_go();
  int good = 0;
  auto refused = [](const caf::error&) { FAIL("refused"); };
  std::move(first).receive([&](int64_t) { ++good; }, refused);
  std::move(second).receive([](int64_t) { FAIL("accepted"); },
                            [](const caf::error& why) {
                              CHECK(code_of(why) == errc::invalid_argument);
                            });
  std::move(third).receive(
    [](completed) { FAIL("accepted"); },
    [](const caf::error& why) { CHECK(code_of(why) == errc::claim_lost); });
  std::move(fourth).receive([&](int64_t) { ++good; }, refused);
  CHECK(good == 2);
  CHECK(other.jobs() == 2);
  CHECK(other.number(commits) == 1);
}

TEST_CASE("S23: of many enqueues in one batch, each has its own answer") {
  store_fixture t;
  neighbour other{t.path()};
  other.hold();
  std::vector<enqueue> wanted;
  for (int i = 0; i < 100; ++i) {
    wanted.push_back({"q", std::to_string(i), {}});
    if (i % 10 == 3)
      wanted.back().queue = "not a name";
    if (i % 10 == 5)
      wanted.back().options.max_attempts = 0;
    if (i % 10 == 7)
      wanted.back().options.dedupe_key = "k";
  }
  auto got = t.ask_all<int64_t>(t.writer, wanted, [&] {
    await_line(t);
    other.let_go();
  });
  REQUIRE(got.size() == wanted.size());
  for (int i = 0; i < 100; ++i) {
    auto& x = got[static_cast<size_t>(i)];
    CAPTURE(i, x.text);
    CHECK(x.code
          == (i % 10 == 3   ? errc::invalid_name
              : i % 10 == 5 ? errc::invalid_argument
                            : errc{}));
    if (x.code == errc{})
      CHECK(t.look_at(x.value.value_or(0)).payload
            == (i % 10 == 7 ? "7" : std::to_string(i)));
  }
  CHECK(other.jobs() == 71);
}

TEST_CASE("S18: settlements of neighbours have an answer each") {
  store_fixture t;
  for (int i = 0; i < 10; ++i)
    t.enqueue_one();
  auto got = t.ask<std::vector<job>>(t.writer, claim_jobs{"q", "w", 10});
  REQUIRE(got.size() == 10);
  t.ask<completed>(t.writer, ack{got[4].claim});
  settle all{t.playing<consumer_actor>(), {}};
  for (auto& x : got)
    all.claims.push_back({x.claim, settlement::action::ack, {}, {}, {}, {}});
  all.claims[8].what = settlement::action::retry;
  auto results = t.ask<settled>(t.writer, all).results;
  std::vector<errc> expected(10);
  expected[4] = errc::claim_lost;
  CHECK(results == expected);
  neighbour other{t.path()};
  CHECK(other.jobs() == 1);
  CHECK(t.look_at(got[8].id).state == job_state::waiting);
}

TEST_CASE("S23: a COMMIT that the disk fails is outcome unknown to every "
          "member, and the next batch works") {
  faulty_disk disk;
  store_fixture t{[](writer_options& o) { o.open.sync = durability::full; }};
  neighbour other{t.path()};
  other.hold();
  auto got = t.ask_all<int64_t>(t.writer, some_jobs(50), [&] {
    await_line(t);
    disk.fail(disk_op::sync, SQLITE_IOERR_FSYNC);
    other.let_go();
  });
  for (auto& x : got) {
    CHECK(x.code == errc::io_error);
    CHECK(x.text.find("outcome unknown") != std::string::npos);
  }
  CHECK(disk.failed() == 1);
  auto id = t.enqueue_one();
  CHECK(t.look_at(id).id == id);
  CHECK(t.events.count("store fault") == 1);
  // None or all: a member is never there alone.
  auto left = other.jobs() - 1;
  CHECK((left == 0 || left == 50));
}

TEST_CASE("S23: a fault of the disk that repeats ends the writer, and nobody "
          "waits for ever") {
  faulty_disk disk;
  system_fixture t;
  auto options = t.store_options();
  auto writer = spawn_writer(t.sys, options);
  disk.fail(disk_op::write, SQLITE_IOERR_WRITE, 1000);
  auto one = t.try_ask<int64_t>(writer, enqueue{"q", "x", {}});
  CHECK(one.code == errc::io_error);
  auto two = t.try_ask<int64_t>(writer, enqueue{"q", "x", {}});
  CHECK_FALSE(two.value);
  CHECK(code_of(t.wait_end(writer)) == errc::io_error);
  CHECK_FALSE(t.try_ask<int64_t>(writer, enqueue{"q", "x", {}}).value);
  disk.fail(disk_op::write, SQLITE_OK, 0);
  CHECK(neighbour{t.path()}.jobs() == 0);
}

TEST_CASE("S23: a full disk is reported to every member, leaves nothing, and "
          "passes") {
  faulty_disk disk;
  store_fixture t;
  neighbour other{t.path()};
  auto full = [&](int skip) {
    other.hold();
    auto got = t.ask_all<int64_t>(t.writer, some_jobs(30, 3000), [&] {
      await_line(t); // one transaction takes them all
      disk.fail(disk_op::write, SQLITE_FULL, 1, skip);
      other.let_go();
    });
    check_all(got, errc::disk_full);
    CHECK(other.jobs() == 0);
  };
  full(0);
  full(7); // in the middle of the commit's frames
  auto start = std::chrono::steady_clock::now();
  t.enqueue_one();
  CHECK(std::chrono::steady_clock::now() - start < 500ms);
  CHECK(other.jobs() == 1);
}

TEST_CASE("S23: when SQLite has ended the transaction, no member's statement "
          "runs outside one") {
  store_fixture t;
  neighbour other{t.path()};
  auto limit = [&](const char* text) {
    t.ask<completed>(t.writer, transact_request{[text](transaction& tx) {
                       sqlite3_exec(tx.handle(), text, nullptr, nullptr,
                                    nullptr);
                     }});
  };
  t.enqueue_one();
  limit("PRAGMA max_page_count = 1"); // no lower than what is there
  other.hold();
  auto batch = some_jobs(3, 1);
  batch[1].payload.assign(200'000, 'x');
  auto got = t.ask_all<int64_t>(t.writer, batch, [&] {
    await_line(t);
    other.let_go();
  });
  // The first two are members of the transaction that is gone; the third is in
  // it, or in the next one.
  CHECK(got[0].code == errc::disk_full);
  CHECK(got[1].code == errc::disk_full);
  auto expected = got[2].value ? 2 : 1;
  CHECK(other.jobs() == expected);
  limit("PRAGMA max_page_count = 1000000");
  t.enqueue_one();
  CHECK(other.jobs() == expected + 1);
}

TEST_CASE("S23: a lock that is not to be had is busy after busy-timeout, and "
          "nothing of it is ever found") {
  store_fixture t{[](writer_options& o) { o.busy_timeout = 200ms; }};
  neighbour other{t.path()};
  other.hold();
  auto got = t.ask_all<int64_t>(t.writer, some_jobs(20));
  check_all(got, errc::busy);
  other.let_go();
  t.enqueue_one();
  CHECK(other.jobs() == 1);
}

TEST_CASE("H23: a neighbour that holds the lock for a while delays a caller "
          "and nothing else") {
  store_fixture t;
  neighbour other{t.path()};
  other.hold();
  auto waiting = port::ask(t.self, patience, t.writer, enqueue{"q", "x", {}});
  t.let_pass(1500ms);
  other.let_go();
  auto answered = false;
  std::move(waiting).receive([&](int64_t) { answered = true; },
                             [](const caf::error&) {});
  CHECK(answered);
}

TEST_CASE("H60: a damaged file ends the writer with corrupt") {
  faulty_disk disk;
  system_fixture t;
  auto writer = spawn_writer(t.sys, t.store_options());
  disk.fail(disk_op::write, SQLITE_CORRUPT);
  CHECK(t.ask_error<int64_t>(writer, enqueue{"q", "x", {}}) == errc::corrupt);
  CHECK(code_of(t.wait_end(writer)) == errc::corrupt);
}
