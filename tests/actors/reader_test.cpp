// Reads of committed state.
#include "tests/actors/faulty_disk.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"

#include <thread>

using namespace alkstore;
using namespace alkstore::test;

TEST_CASE("The reader answers while another connection holds the write lock "
          "and the writer waits for it") {
  store_fixture t;
  auto id = t.enqueue_one();
  neighbour other{t.path()};
  other.hold();
  auto waiting = port::ask(t.self, patience, t.writer, enqueue{"q", "x", {}});
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i)
    CHECK(t.look_at(id).id == id);
  CHECK(std::chrono::steady_clock::now() - start < 1s);
  other.let_go();
  std::move(waiting).receive([](int64_t) {},
                             [](const caf::error&) { FAIL("refused"); });
}

TEST_CASE("The reader lists jobs, dead letters, queues, schedules and locks") {
  store_fixture t;
  auto first = t.enqueue_one("q", "one");
  auto second = t.enqueue_one("q", "two");
  auto sent = t.ask<int64_t>(t.writer, outbox_enqueue{"mail", "m", {}});
  auto taken = t.claim().at(0);
  t.ask<completed>(t.writer, fail{taken.claim, "no"});
  t.ask<schedule>(t.writer, add_schedule{{"s", "@every 1h", "q", "x", {}}});
  t.ask<lease>(t.writer, acquire_lock{"l", "me", 60s});

  auto live = t.ask<std::vector<job>>(t.reader, list_jobs{"q", 0, 100});
  REQUIRE(live.size() == 1);
  CHECK(live[0].id == second);
  CHECK(live[0].payload.empty());
  CHECK(t.ask<std::vector<job>>(t.reader, list_jobs{"q", second, 100}).empty());
  auto dead = t.ask<std::vector<job>>(t.reader, list_dead{"q", false, 0, 100});
  REQUIRE(dead.size() == 1);
  CHECK(dead[0].id == first);
  CHECK(t.look_at(first).payload == "one");
  auto stats = t.ask<std::vector<jobs::queue_stats>>(t.reader, get_stats{});
  REQUIRE(stats.size() == 2);
  CHECK(t.look_at(sent).queue == "__alkstore_outbox:mail");
  CHECK(t.ask<std::vector<schedule>>(t.reader, list_schedules{}).size() == 1);
  CHECK(t.ask<std::vector<lease>>(t.reader, list_locks{}).at(0).owner == "me");
  auto now = t.ask<outlook>(t.reader, get_outlook{});
  CHECK(now.leadership.token == 0);
  CHECK(now.boundary.has_value());

  CHECK(t.ask<bool>(t.writer, requeue_dead{first}));
  CHECK_FALSE(t.ask<bool>(t.writer, requeue_dead{first}));
  CHECK_FALSE(t.ask<bool>(t.writer, delete_dead{first}));
  CHECK(t.look_at(first).attempts == 0);
  CHECK(t.ask_error<job>(t.reader, get_job{12345}) == errc::not_found);
  CHECK(t.ask_error<schedule>(t.reader, get_schedule{"none"})
        == errc::not_found);
  CHECK(t.ask_error<std::vector<job>>(t.reader, list_jobs{"a b", 0, 1})
        == errc::invalid_name);
}

TEST_CASE("H76: 20 reads that cannot open the file fail at once, 100 later "
          "ones from 16 threads succeed") {
  faulty_disk disk;
  store_fixture t;
  auto id = t.enqueue_one();
  disk.fail(disk_op::open, SQLITE_CANTOPEN, 20);
  for (int i = 0; i < 20; ++i) {
    auto start = std::chrono::steady_clock::now();
    CHECK(t.ask_error<job>(t.reader, get_job{id}) == errc::io_error);
    CHECK(std::chrono::steady_clock::now() - start < 1s);
  }
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] {
      caf::scoped_actor self{t.sys};
      for (int n = 0; n < 7; ++n)
        port::ask(self, 1s, t.reader, get_job{id})
          .receive([&](job&) { ++good; }, [](const caf::error&) {});
    });
  for (auto& x : threads)
    x.join();
  CHECK(good == 16 * 7);
}
