// Which boundaries a tick fires when the clock jumps, runs late or early.
#include "tests/substrate/fixture.hpp"

#include <cstdlib>

using namespace alkstore;

namespace {

int64_t job_count(store& s) {
  return s.number("SELECT count(*) FROM alkstore_jobs");
}

using boundaries = std::vector<timestamp>;

} // namespace

TEST_CASE("S9: a thousand missed boundaries are 64 jobs, the rest is skipped "
          "and counted") {
  store s;
  auto lead = s.lead();
  s.add("s", "@every 1s");
  s.time.set(T + 1000s + 400ms);
  auto report = s.tick(lead);
  REQUIRE(report.fired.size() == 64);
  CHECK(report.fired.front().fire_at == T + 1s);
  CHECK(report.fired.back().fire_at == T + 64s);
  REQUIRE(report.skipped.size() == 1);
  CHECK(report.skipped[0].schedule == "s");
  CHECK(report.skipped[0].count == 936);
  CHECK(s.next_fire_at("s") == T + 1001s);
  CHECK(job_count(s) == 64);
}

TEST_CASE("H16: after a day of a secondly schedule one tick fires 64, the "
          "next none") {
  store s;
  auto lead = s.lead();
  s.add("s", "@every 1s");
  CHECK(s.fired_at(lead, T + 86400s).size() == 64);
  CHECK(s.next_fire_at("s") == T + 86401s);
  CHECK(s.fired_at(lead, T + 86400s).empty());
  CHECK(s.next_fire_at("s") == T + 86401s);
}

TEST_CASE("H17, S9: a tick fires the 64 oldest of 65 due boundaries and counts "
          "one as skipped") {
  store s;
  auto lead = s.lead();
  s.time.set(T - 60s);
  s.add("s", "@every 60s");
  SECTION("64 are due") {
    s.time.set(T + 3780s);
    auto report = s.tick(lead);
    CHECK(report.fired.size() == 64);
    CHECK(report.fired.back().fire_at == T + 3780s);
    CHECK(report.skipped.empty());
    CHECK(s.next_fire_at("s") == T + 3840s);
  }
  SECTION("65 are due") {
    s.time.set(T + 3840s);
    auto report = s.tick(lead);
    CHECK(report.fired.size() == 64);
    CHECK(report.fired.back().fire_at == T + 3780s);
    REQUIRE(report.skipped.size() == 1);
    CHECK(report.skipped[0].count == 1);
    CHECK(s.next_fire_at("s") == T + 3900s);
  }
}

TEST_CASE("H02: a day's step forward fires 64 and never one of them again") {
  store s;
  auto lead = s.lead("leader", 8760h);
  s.add("s", "@every 60s");
  auto fired = s.fired_at(lead, T + 86400s);
  CHECK(fired.size() == 64);
  CHECK(fired.front() == T + 60s);
  CHECK(s.next_fire_at("s") == T + 86460s);
  for (auto now = T; now < T + 86460s; now += 600s)
    CHECK(s.fired_at(lead, now).empty());
  CHECK(job_count(s) == 64);
  CHECK(s.fired_at(lead, T + 86460s) == boundaries{T + 86460s});
}

TEST_CASE("H01: a step back fires nothing twice and keeps next_fire_at") {
  store s;
  auto lead = s.lead();
  s.time.set(T - 60s);
  s.add("s", "@every 60s");
  CHECK(s.fired_at(lead, T) == boundaries{T});
  for (auto now = T + 5s - 3600s; now < T + 60s; now += 5s)
    CHECK(s.fired_at(lead, now).empty());
  CHECK(s.next_fire_at("s") == T + 60s);
  CHECK(s.fired_at(lead, T + 60s) == boundaries{T + 60s});
  CHECK(s.number("SELECT count(DISTINCT fire_at) = count(*)"
                 " FROM alkstore_jobs")
        == 1);
}

TEST_CASE("H04: the local time zone and its clock changes play no part") {
  auto run = [](const char* zone) {
    auto before = ::getenv("TZ");
    std::string kept = before ? before : "";
    ::setenv("TZ", zone, 1);
    ::tzset();
    store s;
    auto lead = s.lead();
    constexpr timestamp start{1540674000s}; // 2018-10-27T21:00:00Z
    s.time.set(start);
    s.add("s", "@every 1h");
    boundaries fired;
    for (auto now = start; now < start + 26h; now += 1min)
      if (auto soonest = s.next_fire_at("s"); now >= soonest)
        for (auto boundary : s.fired_at(lead, now))
          fired.push_back(boundary);
    before ? ::setenv("TZ", kept.c_str(), 1) : ::unsetenv("TZ");
    ::tzset();
    return fired;
  };
  auto brussels = run("Europe/Brussels");
  REQUIRE(brussels.size() == 25);
  CHECK(brussels.front() == timestamp{1540677600s}); // 2018-10-27T22:00:00Z
  for (size_t i = 1; i < brussels.size(); ++i)
    CHECK(brussels[i] - brussels[i - 1] == 3600s);
  CHECK(run("UTC") == brussels);
}

TEST_CASE("H07: waking milliseconds early fires nothing early and nothing "
          "twice") {
  store s;
  auto lead = s.lead();
  s.time.set(T - 10s);
  s.add("s", "@every 10s");
  CHECK(s.fired_at(lead, T - 3ms).empty());
  CHECK(s.fired_at(lead, T - 1ms).empty());
  CHECK(s.fired_at(lead, T + 1ms) == boundaries{T});
  CHECK(s.fired_at(lead, T + 1ms).empty());
  CHECK(s.next_fire_at("s") == T + 10s);
}

TEST_CASE("H14: late ticks do not make the grid drift") {
  store s;
  auto lead = s.lead();
  s.add("s", "@every 10s");
  boundaries fired;
  while (fired.size() < 10) {
    auto late = *s.tick(lead).soonest + 3s;
    for (auto boundary : s.fired_at(lead, late))
      fired.push_back(boundary);
  }
  CHECK(fired.back() - fired.front() == 90s);
  CHECK(fired.front() == T + 10s);
}
