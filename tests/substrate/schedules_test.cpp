#include "tests/substrate/fixture.hpp"

using namespace alkstore;

namespace {

schedule add(store& s, const schedule_request& wanted) {
  return s.write([&](transaction& tx) { return schedules::add(tx, wanted); });
}

schedule get(store& s, const char* name) {
  transaction tx{s.db, transaction::access::read};
  return schedules::get(tx, name);
}

bool remove(store& s, const char* name) {
  return s.write([&](transaction& tx) { return schedules::remove(tx, name); });
}

bool pause(store& s, const char* name) {
  return s.write([&](transaction& tx) { return schedules::pause(tx, name); });
}

bool resume(store& s, const char* name) {
  return s.write([&](transaction& tx) { return schedules::resume(tx, name); });
}

const job_options all_options{.priority = 5,
                              .expires_in = 1h,
                              .max_attempts = 7,
                              .visibility_timeout = 30s,
                              .backoff_base = 2s};

} // namespace

TEST_CASE("S1: schedule answers the row as stored") {
  store s;
  std::string payload{"p\0\xFF", 3};
  auto made = add(s, {"s", "@every 60s", "jobs", payload, all_options});
  CHECK(made
        == schedule{"s", "@every 60s", "jobs", payload, all_options, T + 60s,
                    false});
  CHECK(get(s, "s") == made);
}

TEST_CASE("S1: a second call leaves one row with the new values") {
  store s;
  add(s, {"s", "@every 60s", "jobs", "old", all_options});
  s.time.advance(10s);
  auto made = add(s, {"s", "@every 2m", "other", "new", {.priority = -1}});
  CHECK(made
        == schedule{
          "s", "@every 2m", "other", "new", {.priority = -1}, T + 130s, false});
  CHECK(get(s, "s") == made);
  CHECK(s.number("SELECT count(*) FROM alkstore_schedules") == 1);
}

TEST_CASE("S1: the same interval again keeps next_fire_at, whatever else "
          "changes") {
  store s;
  add(s, {"s", "@every 60s", "jobs", "old", {}});
  s.time.advance(59s);
  auto made = add(s, {"s", "@every 1m", "other", "new", all_options});
  CHECK(
    made
    == schedule{"s", "@every 1m", "other", "new", all_options, T + 60s, false});
  s.time.advance(1h);
  CHECK(add(s, {"s", "@every 60s", "q", "p", {}}).next_fire_at == T + 60s);
}

TEST_CASE("S3: the schedule's name and its queue's are checked before "
          "storage") {
  store s;
  witness unchanged{s};
  for (auto name : {"", "a b", "a\nb"}) {
    CHECK(error_of([&] { add(s, {name, "@every 1s", "q", "p", {}}); })
          == errc::invalid_name);
    CHECK(error_of([&] { add(s, {"s", "@every 1s", name, "p", {}}); })
          == errc::invalid_name);
    for (auto call : {schedules::remove, schedules::pause, schedules::resume})
      CHECK(error_of([&] { s.write([&](transaction& tx) { call(tx, name); }); })
            == errc::invalid_name);
  }
  for (auto name : {"__alkstore", "__alkstore_outbox:box"}) {
    CHECK(error_of([&] { add(s, {name, "@every 1s", "q", "p", {}}); })
          == errc::reserved_name);
    CHECK(error_of([&] { add(s, {"s", "@every 1s", name, "p", {}}); })
          == errc::reserved_name);
    CHECK(error_of([&] { get(s, name); }) == errc::reserved_name);
  }
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("a schedule's options and payload are checked before storage") {
  store s;
  witness unchanged{s};
  for (auto& options : std::vector<job_options>{{.priority = 32},
                                                {.expires_in = 0ms},
                                                {.max_attempts = 0},
                                                {.delay = 1s},
                                                {.run_at = T},
                                                {.dedupe_key = "k"}})
    CHECK(error_of([&] { s.add("s", "@every 1s", options); })
          == errc::invalid_argument);
  CHECK(error_of([&] {
          add(s, {"s", "@every 1s", "q", std::string(1048577, 'p'), {}});
        })
        == errc::payload_too_large);
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("S4: unschedule tells whether it was there, and nothing fires "
          "after it") {
  store s;
  auto lead = s.lead();
  s.add("s", "@every 5s");
  s.time.advance(5s);
  CHECK(remove(s, "s"));
  {
    witness unchanged{s};
    CHECK_FALSE(remove(s, "s"));
    CHECK_FALSE(remove(s, "never"));
    auto report = s.tick(lead);
    CHECK(report.fired.empty());
    CHECK(report.soonest == std::nullopt);
    CHECK(unchanged.saw_nothing());
  }
  CHECK(error_of([&] { get(s, "s"); }) == errc::not_found);
  CHECK(text_of([&] { get(s, "s"); }) == "schedule s: there is none");
}

TEST_CASE("S11: pause and resume say whether they changed something") {
  store s;
  s.add("s", "@every 60s");
  CHECK_FALSE(resume(s, "s"));
  CHECK(pause(s, "s"));
  CHECK(get(s, "s").paused);
  {
    witness unchanged{s};
    CHECK_FALSE(pause(s, "s"));
    CHECK(error_of([&] { pause(s, "x"); }) == errc::not_found);
    CHECK(error_of([&] { resume(s, "x"); }) == errc::not_found);
    CHECK(unchanged.saw_nothing());
  }
  CHECK(resume(s, "s"));
  CHECK_FALSE(get(s, "s").paused);
}

TEST_CASE("S11: a paused schedule does not fire, and resumes on its grid "
          "without a burst") {
  store s;
  auto lead = s.lead();
  s.add("s", "@every 10s");
  pause(s, "s");
  s.time.set(T + 25s);
  auto silent = s.tick(lead);
  CHECK(silent.fired.empty());
  CHECK(silent.soonest == std::nullopt);
  resume(s, "s");
  CHECK(s.next_fire_at("s") == T + 30s);
  auto report = s.tick(lead);
  CHECK(report.fired.empty());
  CHECK(report.skipped.empty());
  CHECK(report.soonest == T + 30s);
  s.time.set(T + 30s);
  CHECK(s.tick(lead).fired.size() == 1);
}

TEST_CASE("S11: resuming in time keeps the boundary, at the boundary it is "
          "passed") {
  store s;
  s.add("s", "@every 10s");
  pause(s, "s");
  s.time.set(T + 9999ms);
  resume(s, "s");
  CHECK(s.next_fire_at("s") == T + 10s);
  pause(s, "s");
  s.time.set(T + 10s);
  resume(s, "s");
  CHECK(s.next_fire_at("s") == T + 20s);
}

TEST_CASE("H18: resuming a daily schedule fires nothing for the slot that "
          "passed") {
  store s;
  auto lead = s.lead();
  s.time.set(T - 24h + 1h);
  s.add("s", "@every 1d");
  s.time.set(T);
  CHECK(s.next_fire_at("s") == T + 1h);
  pause(s, "s");
  s.time.set(T + 2h);
  resume(s, "s");
  CHECK(s.next_fire_at("s") == T + 90000s);
  CHECK(s.tick(lead).fired.empty());
}

TEST_CASE("an upsert leaves a paused schedule paused") {
  store s;
  s.add("s", "@every 10s");
  pause(s, "s");
  CHECK(s.add("s", "@every 10s").paused);
  s.time.advance(1s);
  CHECK(s.add("s", "@every 20s").paused);
  CHECK(s.next_fire_at("s") == T + 21s);
}

TEST_CASE("H13: a new interval counts from the change, nothing fires at "
          "once") {
  store s;
  auto lead = s.lead();
  s.add("s", "@every 1d");
  s.time.set(T + 36000s);
  CHECK(s.add("s", "@every 60s").next_fire_at == T + 36060s);
  CHECK(s.tick(lead).fired.empty());
  s.time.set(T + 36060s);
  auto report = s.tick(lead);
  REQUIRE(report.fired.size() == 1);
  CHECK(report.fired[0].fire_at == T + 36060s);
}

TEST_CASE("H11: a weekly schedule that is registered every hour fires in its "
          "week") {
  store s;
  auto lead = s.lead();
  std::vector<timestamp> fired;
  for (int hour = 0; hour <= 8 * 24; ++hour) {
    auto registered = s.add("s", "@every 7d");
    CHECK(registered.next_fire_at
          == (fired.empty() ? T + 604800s : T + 2 * 604800s));
    for (auto& x : s.tick(lead).fired)
      fired.push_back(x.fire_at);
    s.time.advance(1h);
  }
  CHECK(fired == std::vector{T + 604800s});
}

TEST_CASE("H33: names that join to the same text are two schedules with two "
          "queues") {
  store s;
  auto lead = s.lead();
  for (std::string separator : {":", "/", "."}) {
    auto a_b = "a" + separator + "b", b_c = "b" + separator + "c";
    add(s, {"c", "@every 1s", a_b, "1", {}});
    add(s, {b_c, "@every 1s", "a", "2", {}});
    s.time.advance(1s);
    CHECK(s.tick(lead).fired.size() == 2);
    CHECK(s.claim(queue_name::plain(a_b)).payload == "1");
    CHECK(s.claim(queue_name::plain("a")).payload == "2");
    CHECK(remove(s, "c"));
    CHECK(get(s, b_c.c_str()).queue == "a");
    CHECK(remove(s, b_c.c_str()));
  }
  for (auto name : {"a|b", "a\nb"})
    CHECK(error_of([&] { s.add(name, "@every 1s"); }) == errc::invalid_name);
}

TEST_CASE("list answers every schedule by name") {
  store s;
  for (auto name : {"b", "a", "c"})
    s.add(name, "@every 1s");
  transaction tx{s.db, transaction::access::read};
  auto all = schedules::list(tx);
  REQUIRE(all.size() == 3);
  CHECK(all[0] == schedules::get(tx, "a"));
  CHECK(all[1].name == "b");
  CHECK(all[2].name == "c");
}
