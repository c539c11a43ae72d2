#include "tests/substrate/fixture.hpp"

using namespace alkstore;

namespace {

int64_t job_count(store& s) {
  return s.number("SELECT count(*) FROM alkstore_jobs");
}

} // namespace

TEST_CASE("S5, S10: a tick fires ordinary jobs, with the schedule's name and "
          "the boundary's nominal time") {
  store s;
  auto lead = s.lead();
  s.add("s", "@every 10s");
  s.time.set(T + 13s);
  auto report = s.tick(lead);
  CHECK(report.now == T + 13s);
  CHECK(report.soonest == T + 20s);
  CHECK(report.skipped.empty());
  REQUIRE(report.fired.size() == 1);
  CHECK(report.fired[0].schedule == "s");
  CHECK(report.fired[0].queue == "q");
  CHECK(report.fired[0].fire_at == T + 10s);
  auto fired = s.get(report.fired[0].job);
  CHECK(fired.queue == "q");
  CHECK(fired.payload == "p");
  CHECK(fired.schedule == "s");
  CHECK(fired.fire_at == T + 10s);
  CHECK(fired.run_at == T + 13s);
  CHECK(fired.enqueued_at == T + 13s);
  CHECK(fired.visibility_timeout == 300s);
  CHECK(fired.max_attempts == 3);
  CHECK(fired.backoff_base == 5s);
  CHECK(fired.priority == 0);
  CHECK(fired.expires_at == std::nullopt);
  auto claimed = s.claim(q);
  CHECK(claimed.schedule == "s");
  CHECK(claimed.fire_at == T + 10s);
  s.retry(claimed.claim, "no", 0ms);
  s.fail(s.claim(q).claim);
  CHECK(s.get(claimed.id).schedule == "s");
  CHECK(s.get(claimed.id).fire_at == T + 10s);
}

TEST_CASE("S10: each option of a schedule overrides its own value only") {
  store s;
  auto lead = s.lead();
  s.add("1", "@every 1s", {.priority = 5});
  s.add("2", "@every 1s", {.expires_in = 1h});
  s.add("3", "@every 1s", {.max_attempts = 7});
  s.add("4", "@every 1s", {.visibility_timeout = 30s});
  s.add("5", "@every 1s", {.backoff_base = 2s});
  s.time.advance(1s);
  for (auto& x : s.tick(lead).fired) {
    auto fired = s.get(x.job);
    CAPTURE(x.schedule);
    CHECK(fired.priority == (x.schedule == "1" ? 5 : 0));
    CHECK(fired.expires_at
          == (x.schedule == "2" ? std::optional{T + 1s + 1h} : std::nullopt));
    CHECK(fired.max_attempts == (x.schedule == "3" ? 7 : 3));
    CHECK(fired.visibility_timeout == (x.schedule == "4" ? 30s : 300s));
    CHECK(fired.backoff_base == (x.schedule == "5" ? 2s : 5s));
  }
  CHECK(job_count(s) == 5);
}

TEST_CASE("S7, H19: a tick with a stolen, released or lapsed lease inserts "
          "nothing") {
  store s;
  auto lead = s.lead("a", 60s);
  s.add("s", "@every 1s");
  s.time.set(T + 58s);
  CHECK(s.tick(lead).fired.size() == 58);
  s.time.set(T + 59999ms); // another boundary is due
  auto release = [&](const lease& held) {
    s.write([&](transaction& tx) { leases::release(tx, held); });
  };
  SECTION("lapsed, and nobody took it") {
    s.time.set(T + 60s);
  }
  SECTION("lapsed, and another leads") {
    s.time.set(T + 61s);
    s.lead("b", 60s);
  }
  SECTION("released") {
    release(lead);
  }
  SECTION("released, and the same owner leads under a new token") {
    release(lead);
    s.lead("a", 60s);
  }
  SECTION("an owner that never had it") {
    lead.owner = "b";
  }
  SECTION("a token that nobody has yet") {
    lead.token += 1;
  }
  witness unchanged{s};
  CHECK(error_of([&] { s.tick(lead); }) == errc::leadership_lost);
  CHECK(contains(text_of([&] { s.tick(lead); }),
                 "lease __alkstore_scheduler, token "
                   + std::to_string(lead.token)));
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("H10: the boundary due between two leaders is fired by the second, "
          "once") {
  store s;
  auto a = s.lead("a", 20s);
  s.add("s", "@every 60s");
  for (auto now = T; now < T + 59s; now += 6s) {
    s.time.set(now);
    s.write([&](transaction& tx) { leases::renew(tx, a); });
    CHECK(s.tick(a).fired.empty());
  }
  s.time.set(T + 80s);
  auto b = s.lead("b", 20s);
  CHECK(s.fired_at(b, T + 80s) == std::vector{T + 60s});
  CHECK(error_of([&] { s.tick(a); }) == errc::leadership_lost);
  CHECK(s.next_fire_at("s") == T + 120s);
  CHECK(job_count(s) == 1);
}

TEST_CASE("H15: a schedule removed before the tick's transaction stays "
          "removed") {
  store s;
  auto lead = s.lead();
  s.add("s", "@every 5s");
  s.time.set(T + 5s);
  s.write([](transaction& tx) { schedules::remove(tx, "s"); });
  for (int second = 5; second <= 35; ++second)
    CHECK(s.fired_at(lead, T + std::chrono::seconds{second}).empty());
  CHECK(s.number("SELECT count(*) FROM alkstore_schedules") == 0);
  CHECK(job_count(s) == 0);
}

TEST_CASE("a tick takes whole schedules, soonest first, and stops behind its "
          "bound of jobs") {
  store s;
  auto lead = s.lead();
  s.add("c", "@every 3s");
  s.add("a", "@every 1s");
  s.add("b", "@every 2s");
  s.time.set(T + 6s);
  auto tick = [&](int jobs) {
    std::string names;
    s.write([&](transaction& tx) {
      auto report = schedules::tick(tx, lead, {.jobs = jobs});
      for (auto& x : report.fired)
        names += x.schedule;
      names += report.soonest <= report.now ? "+" : "";
    });
    return names;
  };
  CHECK(tick(6) == "aaaaaa+");
  CHECK(tick(4) == "bbbcc");
  CHECK(tick(4) == "");
}

TEST_CASE("a tick looks at its bound of time after sixteen schedules, or 64 "
          "jobs") {
  store s;
  auto lead = s.lead();
  for (int i = 0; i < 40; ++i)
    s.add(std::to_string(i).c_str(), "@every 1s");
  auto fired = [&](millis bound) {
    return s.write([&](transaction& tx) {
      // Each of the three rows that a firing writes takes a millisecond.
      auto pass = [](void* time, int, const char*, const char*, sqlite3_int64) {
        static_cast<manual_clock*>(time)->advance(1ms);
      };
      sqlite3_update_hook(tx.handle(), pass, &s.time);
      auto report = schedules::tick(tx, lead, {.time = bound});
      sqlite3_update_hook(tx.handle(), nullptr, nullptr);
      return report.fired.size();
    });
  };
  s.time.set(T + 1s);
  CHECK(fired(0ms) == 16);
  CHECK(fired(100ms) == 24); // the second look is after 48 ms
  s.time.set(T + 41s);
  CHECK(fired(0ms) == 80); // two schedules with 40 boundaries each
}

TEST_CASE("S9: 10,000 overdue schedules take several transactions, each with "
          "its own lease check") {
  store s;
  s.write([](transaction& tx) {
    for (int i = 0; i < 10000; ++i)
      schedules::add(tx, {"s" + std::to_string(i), "@every 1s", "q", "p", {}});
  });
  auto lead = s.lead("a", 60s);
  s.time.set(T + 1s);
  size_t fired = 0, ticks = 0;
  for (auto more = true; more; ++ticks) {
    auto report = s.tick(lead);
    CHECK(report.fired.size() == 1000);
    fired += report.fired.size();
    more = report.soonest <= report.now;
    if (ticks == 4) { // the lease lapses in the middle, another goes on
      s.time.set(T + 60s);
      CHECK(error_of([&] { s.tick(lead); }) == errc::leadership_lost);
      s.time.set(T + 1s);
      lead = s.write([&](transaction& tx) {
                return leases::acquire(tx, leases::scheduler, "b", 60s,
                                       leases::stale_lease{lead.token, 0});
              })
               .value();
    }
  }
  CHECK(ticks == 10);
  CHECK(fired == 10000);
  CHECK(s.number("SELECT count(DISTINCT schedule) FROM alkstore_jobs")
        == 10000);
}

TEST_CASE("a payload limit that was lowered does not stop the schedules that "
          "were there") {
  temp_dir dir;
  manual_clock time;
  {
    connection db{dir / "db", {}, time};
    transaction tx{db};
    schedules::add(tx, {"s", "@every 1s", "q", "payload", {}});
    tx.commit();
  }
  time.advance(1s);
  connection db{dir / "db", {.rules = {.max_payload = 3}}, time};
  transaction tx{db};
  auto lead = leases::acquire(tx, leases::scheduler, "a", 60s).value();
  auto report = schedules::tick(tx, lead);
  REQUIRE(report.fired.size() == 1);
  CHECK(jobs::get(tx, report.fired[0].job).payload == "payload");
}
