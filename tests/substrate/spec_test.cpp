#include "substrate/spec.hpp"

#include "tests/substrate/fixture.hpp"

#include <ctime>

using namespace alkstore;
using namespace std::string_literals;

namespace {

const std::vector<std::string> bad_specs{
  "",
  "@every",
  "@every ",
  "@every 0s",
  "@every 00s",
  "@every 0d",
  "@every -5s",
  "@every -1s",
  "@every +5s",
  "@every +1s",
  "@every 5",
  "@every s",
  "@every 5w",
  "@every 5S",
  "@every 5sm",
  "@every 5ms",
  "@every 5s;",
  "@every 1.5h",
  "@every 5 s",
  "@every  5s",
  " @every 5s",
  "@every 5s ",
  "@every\t5s",
  "@every 5s\n",
  "@every5s",
  "@everything",
  "@EVERY 5s",
  "@every 1h30m",
  "@every 1e3s",
  "@every 0x5s",
  "@every \xD9\xA5s",      // Arabic-Indic digit five
  "@every \xEF\xBC\x95s",  // full-width digit five
  "@every 5\xE2\x80\xAFs", // narrow no-break space
  "@every 5s\0"s,
  "@every 5s\0d"s,
  "@every \0005s"s,
  "\0@every 5s"s,
  "@hourly",
  "* * * * *",
  "@every 9223372036854775807d",
  "@every 9223372036854775807s",
  "@every 99999999999999999999s",
  "@every 9223372036854776s"};

} // namespace

TEST_CASE("S2: a spec is @every, one space, a positive integer and a unit") {
  CHECK(parse_spec("@every 1s") == 1s);
  CHECK(parse_spec("@every 5s") == 5s);
  CHECK(parse_spec("@every 90m") == 90min);
  CHECK(parse_spec("@every 24h") == 24h);
  CHECK(parse_spec("@every 7d") == 168h);
  CHECK(parse_spec("@every 007s") == 7s);
  CHECK(parse_spec("@every 9223372036854775s") == 9223372036854775s);
}

TEST_CASE("S2, H29, H32: a bad spec is refused before storage") {
  store s;
  s.add("there", "@every 1h");
  witness unchanged{s};
  auto add = [&](const char* name, const std::string& spec) {
    s.write(
      [&](transaction& tx) { schedules::add(tx, {name, spec, "q", "p", {}}); });
  };
  for (auto& spec : bad_specs) {
    CAPTURE(spec);
    CHECK(error_of([&] { parse_spec(spec); }) == errc::invalid_spec);
    CHECK(error_of([&] { add("new", spec); }) == errc::invalid_spec);
    CHECK(error_of([&] { add("there", spec); }) == errc::invalid_spec);
  }
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("H29: the refusal names the spec and the allowed form") {
  CHECK(text_of([] { parse_spec("@every 0s"); })
        == "spec \"@every 0s\" is zero: the form is `@every <n><unit>`, n a "
           "positive integer, unit s, m, h or d");
  CHECK(contains(text_of([] { parse_spec("@every 5s\0"s); }),
                 "spec \"@every 5s?\" is malformed"));
  CHECK(contains(text_of([] { parse_spec("@every 9223372036854775807d"); }),
                 "is too large"));
  CHECK(contains(text_of([] { parse_spec("@hourly"); }), "is not known"));
}

TEST_CASE("H31: a spec of any length has its answer at once") {
  auto mebi = size_t{1} << 20;
  for (auto& spec : {"@every 0d"s, "@every " + std::string(mebi, '9') + "s",
                     "@every " + std::string(10000, ' '),
                     "@every 1s" + std::string(mebi, ' ')}) {
    auto start = std::clock();
    auto text = text_of([&] { parse_spec(spec); });
    CHECK(std::clock() - start < CLOCKS_PER_SEC / 10);
    CHECK(text.size() > 0);
    CHECK(text.size() < 200);
  }
}

TEST_CASE("H30: an interval beyond any timer's range waits, one beyond the "
          "calendar is refused") {
  store s;
  auto far = s.add("far", "@every 9999999999d");
  CHECK(far.next_fire_at == timestamp{864001699913600s});
  auto report = s.tick(s.lead());
  CHECK(report.fired.empty());
  CHECK(report.soonest == timestamp{864001699913600s});
  witness unchanged{s};
  // Its milliseconds fit, now + interval does not.
  CHECK(error_of([&] { s.add("over", "@every 106751991167d"); })
        == errc::invalid_spec);
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("first_after finds the grid's next boundary and counts those it "
          "passed") {
  auto check = [](timestamp from, millis interval, timestamp now,
                  timestamp next, int64_t passed) {
    auto step = first_after(from, interval, now);
    CHECK(step.next == next);
    CHECK(step.passed == passed);
  };
  check(T, 10s, T, T + 10s, 0);
  check(T, 10s, T + 9999ms, T + 10s, 0);
  check(T, 10s, T + 10s, T + 20s, 1);
  check(T, 10s, T + 25s, T + 30s, 2);
  check(T, 1s, T + 24h, T + 24h + 1s, 86400);
  constexpr timestamp end{millis::max()};
  check(end - 3ms, 1ms, end - 2ms, end - 1ms, 1);
  check(end - 3ms, 1ms, end - 1ms, end, 2);
  CHECK(error_of([&] { first_after(end - 3ms, 1ms, end); })
        == errc::invalid_spec);
}
