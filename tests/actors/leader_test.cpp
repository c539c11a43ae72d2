// scheduler_leader and lock_renewal: who leads, and what is fired.
#include "actors/scheduler_leader.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"

#include <atomic>
#include <memory>

using namespace alkstore;
using namespace alkstore::test;

namespace {

/// What a runtime has for the leadership, without its supervision.
class node {
public:
  node(system_fixture& t, std::string owner, lease_timing timing)
    : owner_(std::move(owner)), t_(t), timing_(timing) {
    auto options = t.store_options();
    options.report = events.sink();
    writer = spawn_writer(t.sys, options);
    reader = spawn_reader(t.sys, options);
    stand_by();
  }

  ~node() {
    caf::anon_send_exit(leader, caf::exit_reason::kill);
    caf::anon_send_exit(writer, caf::exit_reason::kill);
    caf::anon_send_exit(reader, caf::exit_reason::kill);
  }

  /// A new leader, as after the end of the one before.
  void stand_by() {
    auto name = owner_ + std::to_string(++lives_);
    leader = spawn_leader(
      t_.sys, {name, timing_, &t_.time, placement::detached, events.sink()},
      writer, reader);
    ended_ = std::make_shared<std::atomic<bool>>(false);
    port::when_ended(leader,
                     [ended = ended_](const caf::error&) { *ended = true; });
  }

  /// The same where the one before has ended.
  void revive() {
    if (*ended_)
      stand_by();
  }

  event_log events;
  writer_actor writer;
  reader_actor reader;
  leader_actor leader;

private:
  std::string owner_;
  system_fixture& t_;
  lease_timing timing_;
  int lives_ = 0;
  std::shared_ptr<std::atomic<bool>> ended_;
};

lease_timing timing(millis ttl) {
  return {ttl, ttl / 3};
}

lease row(system_fixture& t, node& x) {
  return t.ask<outlook>(x.reader, get_outlook{}).leadership;
}

void add(system_fixture& t, node& x, const std::string& name,
         const char* spec) {
  t.ask<schedule>(x.writer, add_schedule{{name, spec, "q", "x", {}}});
}

constexpr auto doubles = "SELECT count(*) - count(DISTINCT schedule || fire_at)"
                         " FROM alkstore_jobs";

constexpr auto steal =
  "UPDATE alkstore_locks SET owner = 'thief', token = token + 1,"
  " expires_at = expires_at + 1000000 WHERE name = '__alkstore_scheduler'";

} // namespace

TEST_CASE("S5: the leader fires a due boundary into its queue, with the "
          "schedule's name and the nominal time") {
  system_fixture t;
  node a{t, "a", timing(3s)};
  a.events.wait_for("leading");
  add(t, a, "s", "@every 1s");
  auto fired = a.events.wait_for("fired");
  CHECK(fired.name == "s");
  CHECK(fired.took < 500ms);
  auto jobs = t.ask<std::vector<job>>(a.writer, claim_jobs{"q", "w", 1});
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].schedule == "s");
  CHECK(jobs[0].fire_at);
  CHECK(jobs[0].visibility_timeout == 300s);
  t.ask<completed>(a.writer, ack{jobs[0].claim});
}

TEST_CASE("S7: a leader whose lease is stolen ends with leadership_lost and "
          "fires nothing from then on") {
  system_fixture t;
  node a{t, "a", timing(1500ms)};
  neighbour other{t.path()};
  a.events.wait_for("leading");
  auto held = row(t, a);
  add(t, a, "s", "@every 1s");
  a.events.wait_for("fired");
  auto before = other.write([](transaction& tx) {
    tx.run(steal);
    auto count = tx.sql("SELECT count(*) FROM alkstore_jobs");
    count.step();
    return count.integer(0);
  });
  CHECK(t.ask_error<tick_report>(a.writer, tick{held})
        == errc::leadership_lost);
  CHECK(code_of(t.wait_end(a.leader)) == errc::leadership_lost);
  CHECK(t.ask_error<lease>(a.writer, renew_leadership{held})
        == errc::leadership_lost);
  CHECK(other.jobs() == before);
  CHECK(row(t, a).owner == "thief"); // its last words freed nothing
}

TEST_CASE("S8: a sleeping leader ends at once with normal, its lease is free, "
          "and a standby leads without waiting for the ttl") {
  std::vector<millis> ended, followed;
  for (int i = 0; i < 5; ++i) {
    system_fixture t;
    node a{t, "a", timing(15s)};
    a.events.wait_for("leading");
    node b{t, "b", timing(15s)};
    add(t, a, "far", "@every 7d");
    CHECK(b.events.count("leading") == 0);
    auto start = clock::system().steady_now();
    t.ask<completed>(a.leader, stop{});
    ended.push_back(since(start));
    b.events.wait_for("leading");
    followed.push_back(since(start));
    CHECK(t.wait_end(a.leader) == caf::exit_reason::normal);
    CHECK(a.events.count("stepped down") == 1);
  }
  CHECK(median(ended) < 100ms);
  CHECK(median(followed) < 250ms);
}

TEST_CASE("S8: a leader stopped twice, or while it stands by or campaigns, "
          "ends with normal") {
  system_fixture t;
  node a{t, "a", timing(15s)};
  a.events.wait_for("leading");
  node b{t, "b", timing(15s)};
  auto first = port::ask(t.self, patience, b.leader, stop{});
  auto second = port::ask(t.self, patience, b.leader, stop{});
  int answers = 0;
  std::move(first).receive([&](completed) { ++answers; },
                           [](const caf::error&) {});
  std::move(second).receive([&](completed) { ++answers; },
                            [](const caf::error&) {});
  CHECK(answers >= 1);
  CHECK(t.wait_end(b.leader) == caf::exit_reason::normal);
  t.ask<completed>(a.leader, stop{});
  // A campaign that waits for the lock, then wins it after the stop.
  neighbour other{t.path()};
  other.hold();
  a.stand_by();
  t.let_pass(100ms);
  auto stopped = port::ask(t.self, patience, a.leader, stop{});
  t.let_pass(100ms);
  other.let_go();
  std::move(stopped).receive([](completed) {},
                             [](const caf::error&) { FAIL("stop"); });
  CHECK(row(t, a).owner.empty());
}

TEST_CASE("S8: the lease of a leader that dies is free at once") {
  system_fixture t;
  node a{t, "a", timing(15s)};
  a.events.wait_for("leading");
  node b{t, "b", timing(15s)};
  auto start = clock::system().steady_now();
  caf::anon_send_exit(a.leader, caf::exit_reason::kill);
  b.events.wait_for("leading");
  CHECK(since(start) < 1s);
}

TEST_CASE("H20, H27: a healthy leader keeps its lease, one who has long stood "
          "by gets a whole one") {
  system_fixture t;
  auto quick = timing(600ms);
  node a{t, "a", quick};
  a.events.wait_for("leading");
  node b{t, "b", quick};
  auto last = row(t, a);
  for (int i = 0; i < 15; ++i) { // ten ttls
    t.let_pass(400ms);
    auto now = row(t, a);
    REQUIRE(now.owner == last.owner);
    REQUIRE(now.token == last.token);
    REQUIRE(now.expires_at > last.expires_at);
    last = now;
  }
  CHECK(b.events.count("leading") == 0);
  t.ask<completed>(a.leader, stop{});
  b.events.wait_for("leading");
  auto fresh = row(t, b);
  CHECK(fresh.expires_at - t.time.wall_now() > 300ms);
  t.let_pass(1200ms); // two ttls
  auto now = row(t, b);
  CHECK(now.token == fresh.token);
  CHECK(now.renewals >= 3);
}

TEST_CASE("H23: a lock that is held for less than the lease costs no "
          "leadership, and no error") {
  system_fixture t;
  node a{t, "a", timing(3s)};
  a.events.wait_for("leading");
  auto before = row(t, a);
  neighbour other{t.path()};
  other.hold();
  t.let_pass(750ms);
  other.let_go();
  t.let_pass(2s);
  CHECK(row(t, a).token == before.token);
  CHECK(a.events.count("store fault") == 0);
}

TEST_CASE("H22, H23: a leader that cannot renew gives up within two thirds of "
          "the ttl without asking, fires nothing more, and one leads soon "
          "after") {
  system_fixture t;
  node a{t, "a", timing(1500ms)};
  neighbour other{t.path()};
  a.events.wait_for("leading");
  add(t, a, "s", "@every 1s");
  a.events.wait_for("fired");
  other.hold();
  auto start = clock::system().steady_now();
  CHECK(code_of(t.wait_end(a.leader)) == errc::leadership_lost);
  CHECK(since(start) <= 1200ms);
  a.stand_by();
  t.let_pass(2500ms);
  other.let_go();
  auto freed = clock::system().steady_now();
  // A campaign that waited for too long is worth nothing: the next one leads.
  while (a.events.count("fired") < 2 && since(freed) < 3s) {
    t.let_pass(10ms);
    a.revive();
  }
  CHECK(since(freed) < 3s);
  CHECK(other.number(doubles) == 0);
}

TEST_CASE("H25: a stop in the middle of a tick frees the lease after the "
          "tick's commit, never before") {
  system_fixture t;
  node a{t, "a", timing(6s)};
  neighbour other{t.path()};
  a.events.wait_for("leading");
  add(t, a, "s", "@every 1s");
  other.hold();
  t.let_pass(1300ms); // the tick waits for the lock
  auto stopped = port::ask(t.self, patience, a.leader, stop{});
  t.let_pass(100ms);
  CHECK_FALSE(row(t, a).owner.empty());
  other.let_go();
  std::move(stopped).receive([](completed) {},
                             [](const caf::error&) { FAIL("stop"); });
  CHECK(row(t, a).owner.empty());
  CHECK(a.events.count("fired") == 1);
  CHECK(other.jobs() == 1);
  CHECK(t.wait_end(a.leader) == caf::exit_reason::normal);
}

TEST_CASE("H26: after a leader that just vanished, one of three standbys leads "
          "within the ttl and a fifth") {
  system_fixture t;
  auto quick = timing(1s);
  auto writer = spawn_writer(t.sys, t.store_options());
  t.ask<schedule>(writer, add_schedule{{"s", "@every 1s", "q", "x", {}}});
  t.ask<lease>(writer, campaign{"vanished", quick.ttl, {}});
  auto start = clock::system().steady_now();
  {
    node a{t, "a", quick}, b{t, "b", quick}, c{t, "c", quick};
    auto leaders = [&] {
      return a.events.count("leading") + b.events.count("leading")
             + c.events.count("leading");
    };
    while (leaders() == 0 && since(start) < 5s)
      t.let_pass(20ms);
    CHECK(since(start) < 1200ms + 300ms);
    t.let_pass(2s);
    CHECK(leaders() == 1);
    CHECK(neighbour{t.path()}.number(doubles) == 0);
  }
  caf::anon_send_exit(writer, caf::exit_reason::kill);
}

TEST_CASE("H05: with the clock stepped back and the leader gone, a standby "
          "leads within two ttls by the steady clock") {
  system_fixture t;
  auto writer = spawn_writer(t.sys, t.store_options());
  t.ask<lease>(writer, campaign{"gone", 1s, {}});
  t.time.step(-1h);
  auto start = clock::system().steady_now();
  {
    node b{t, "b", timing(1s)};
    b.events.wait_for("leading");
    CHECK(since(start) < 2s);
    CHECK(since(start) > 900ms); // it had to watch for a whole ttl
    auto left = row(t, b).expires_at - t.time.wall_now();
    CHECK(left <= 1s);
    CHECK(left > 0s);
    t.let_pass(1500ms);
    CHECK(b.events.count("leading") == 1);
  }
  caf::anon_send_exit(writer, caf::exit_reason::kill);
}

TEST_CASE("H05: a standby takes no lease from a leader that still renews, "
          "however far the clock went back") {
  system_fixture t;
  node a{t, "a", timing(900ms)};
  a.events.wait_for("leading");
  node b{t, "b", timing(900ms)};
  t.time.step(-1h);
  t.let_pass(3s);
  CHECK(b.events.count("leading") == 0);
  CHECK(row(t, a).renewals >= 5);
}

TEST_CASE("H02: a clock that jumps ahead ends the lease; the next leader "
          "catches up 64 boundaries and skips the rest") {
  system_fixture t;
  node a{t, "a", timing(1500ms)};
  neighbour other{t.path()};
  a.events.wait_for("leading");
  add(t, a, "s", "@every 60s");
  t.time.step(24h);
  CHECK(code_of(t.wait_end(a.leader)) == errc::leadership_lost);
  a.events.wait_for("clock jumped");
  a.stand_by();
  a.events.wait_for("skipped");
  a.events.wait_for("fired", 64);
  t.time.step(-24h);
  t.let_pass(500ms);
  CHECK(other.jobs() == 64);
  CHECK(other.number(doubles) == 0);
}

TEST_CASE("H19, H28: renewal, tick and campaign judge the deadline by one "
          "rule, and one who came too late changes nothing") {
  testing::virtual_clock time;
  store_fixture t{[&](writer_options& o) { o.time = &time; }};
  auto a = t.ask<lease>(t.writer, campaign{"a", 60s, {}});
  t.ask<schedule>(t.writer, add_schedule{{"s", "@every 10s", "q", "x", {}}});
  time.set(a.expires_at - 1ms);
  CHECK(t.ask<lease>(t.writer, campaign{"b", 60s, {}}).token == 0);
  a = t.ask<lease>(t.writer, renew_leadership{a});
  CHECK(a.renewals == 1);
  time.set(a.expires_at);
  CHECK(t.ask_error<lease>(t.writer, renew_leadership{a})
        == errc::leadership_lost);
  CHECK(t.ask_error<tick_report>(t.writer, tick{a}) == errc::leadership_lost);
  CHECK(t.ask_error<maintenance_report>(t.writer, maintain{a})
        == errc::leadership_lost);
  auto b = t.ask<lease>(t.writer, campaign{"b", 60s, {}});
  CHECK(b.token == a.token + 1);
  CHECK(b.expires_at == time.wall_now() + 60s);
  time.step(9s);
  CHECK(t.ask_error<lease>(t.writer, renew_leadership{a})
        == errc::leadership_lost);
  CHECK_FALSE(t.ask<bool>(t.writer, release_leadership{a}));
  auto now = t.ask<outlook>(t.reader, get_outlook{}).leadership;
  CHECK(now.owner == "b");
  CHECK(now.expires_at == b.expires_at);
  CHECK(t.ask<std::vector<job>>(t.reader, list_jobs{"q", 0, 10}).empty());
}

TEST_CASE("H12, H43: the leader fires what another process registered, as soon "
          "as it is due") {
  system_fixture t;
  node a{t, "a", timing(15s)};
  a.events.wait_for("leading");
  node b{t, "b", timing(15s)};
  add(t, a, "far", "@every 7d");
  add(t, b, "near", "@every 1s");
  auto fired = a.events.wait_for("fired");
  CHECK(fired.name == "near");
  CHECK(fired.took < 500ms);
  // After A has gone, B fires A's, too.
  add(t, a, "mine", "@every 1s");
  t.ask<completed>(a.leader, stop{});
  b.events.wait_for("fired", 1, "mine");
}

TEST_CASE("S6, H08: over a thousand boundaries, changing leaders and a jumping "
          "clock each fires once, without a gap") {
  constexpr int schedules = 50, steps = 20;
  system_fixture t;
  auto quick = timing(900ms);
  node a{t, "a", quick}, b{t, "b", quick}, c{t, "c", quick};
  neighbour other{t.path()};
  for (int i = 0; i < schedules; ++i)
    add(t, a, "s" + std::to_string(i), "@every 1s");
  auto revive_all = [&] {
    for (auto x : {&a, &b, &c})
      x->revive();
  };
  auto rounds = 0;
  for (auto x : {&a, &b, &c, &a, &b, &c}) {
    t.time.step(millis{1000 * steps / 5});
    t.let_pass(300ms);
    t.time.step(-500ms);
    // Leaders end in both ways, and stand by again.
    if (++rounds % 2)
      caf::anon_send_exit(x->leader, caf::exit_reason::kill);
    else
      t.try_ask<completed>(x->leader, stop{});
    t.let_pass(50ms);
    revive_all();
  }
  auto complete = [&] {
    return other.number("SELECT count(*) FROM alkstore_schedules"
                        " WHERE next_fire_at <= "
                        "(SELECT max(next_fire_at) FROM alkstore_schedules)"
                        " - 2000");
  };
  auto start = clock::system().steady_now();
  while ((other.jobs() < schedules * steps || complete() > 0)
         && since(start) < 15s) {
    t.let_pass(50ms);
    revive_all();
  }
  CHECK(other.jobs() >= schedules * steps);
  CHECK(other.number(doubles) == 0);
  // No gap: as many boundaries as the grid has from the first to the last.
  CHECK(other.number("SELECT count(*) FROM (SELECT schedule, count(*) AS n,"
                     " (max(fire_at) - min(fire_at)) / 1000 + 1 AS grid"
                     " FROM alkstore_jobs GROUP BY schedule) WHERE n <> grid")
        == 0);
}

TEST_CASE("A leader that never reached the store in time is not left with a "
          "lease that nobody uses") {
  system_fixture t;
  neighbour other{[&] {
    auto writer = spawn_writer(t.sys, t.store_options());
    t.ask<completed>(writer, stop{});
    return t.path();
  }()};
  node a{t, "a", timing(900ms)};
  a.events.wait_for("leading");
  t.ask<completed>(a.leader, stop{});
  other.hold();
  a.stand_by(); // its campaign is granted after more than two thirds of the ttl
  t.let_pass(750ms);
  other.let_go();
  auto why = t.wait_end(a.leader);
  CHECK(code_of(why) == errc::leadership_lost);
  // Its last words may come behind the news of its end.
  for (int i = 0; i < 1000 && !row(t, a).owner.empty(); ++i)
    t.ask<bool>(a.writer, cancel_job{0});
  CHECK(row(t, a).owner.empty());
}

TEST_CASE("S20, H64: maintenance buries, removes and forgets in bounded "
          "pieces, for the leader only") {
  testing::virtual_clock time;
  store_fixture t{[&](writer_options& o) {
    o.time = &time;
    o.retention = 24h;
  }};
  auto held = t.ask<lease>(t.writer, campaign{"a", 24h * 30, {}});
  job_options brief;
  brief.expires_in = 1s;
  for (int i = 0; i < 3; ++i)
    t.ask<std::vector<int64_t>>(
      t.writer, enqueue_many{std::vector<enqueue>(300, {"q", "x", brief})});
  time.step(1s);
  auto first = t.ask<maintenance_report>(t.writer, maintain{held});
  CHECK(first.buried == 500);
  CHECK(first.more);
  auto second = t.ask<maintenance_report>(t.writer, maintain{held});
  CHECK(second.buried == 400);
  CHECK_FALSE(second.more);
  time.step(24h);
  auto third = t.ask<maintenance_report>(t.writer, maintain{held});
  CHECK(third.removed == 500);
  CHECK(third.more);
  auto fourth = t.ask<maintenance_report>(t.writer, maintain{held});
  CHECK(fourth.removed == 400);
  job_options keyed;
  keyed.dedupe_key = "k";
  t.enqueue_one("q", "x", keyed);
  t.ask<completed>(t.writer, ack{t.claim().at(0).claim});
  time.step(24h);
  CHECK(t.ask<maintenance_report>(t.writer, maintain{held}).forgotten == 1);
}

TEST_CASE("The maintenance comes round after ten seconds while its node leads",
          "[slow]") {
  system_fixture t;
  node a{t, "a", timing(3s)};
  a.events.wait_for("leading");
  job_options brief;
  brief.expires_in = 1ms;
  t.ask<int64_t>(a.writer, enqueue{"q", "x", brief});
  a.events.wait_for("tidied up");
}
