#include "app/units.hpp"

#include "substrate/error.hpp"
#include "tests/catch.hpp"

#include <string>

using namespace alkstore;
using namespace std::chrono_literals;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

template <class T>
std::string refusal(T (*parse)(std::string_view), std::string_view text) {
  try {
    parse(text);
    return "accepted";
  } catch (const failure& why) {
    REQUIRE(why.code() == errc::invalid_argument);
    return why.what();
  }
}

const std::string form = "a duration is a positive whole number directly "
                         "followed by one of ms s min h d";

} // namespace

TEST_CASE("H90: a duration is a number and its unit") {
  CHECK(parse_duration("1ms") == 1ms);
  CHECK(parse_duration("600s") == 600s);
  CHECK(parse_duration("5min") == 5min);
  CHECK(parse_duration("24h") == 24h);
  CHECK(parse_duration("30d") == 720h);
  CHECK(parse_duration("36500d") == longest_duration);
}

TEST_CASE("H90: what is no duration is refused with the units") {
  CHECK(refusal(parse_duration, "600") == "`600` has no unit: " + form);
  CHECK(refusal(parse_duration, "10 s")
        == "`10 s` has an unknown unit: " + form);
  CHECK(refusal(parse_duration, "1e3s")
        == "`1e3s` has an unknown unit: " + form);
  CHECK(refusal(parse_duration, "5m")
        == "`5m` has an unknown unit: " + form + " (a minute is `min`)");
  for (auto text : {"", " 5s", "-5s", "+5s", "007s", "s", "٥s"})
    CHECK_THAT(refusal(parse_duration, text),
               EndsWith(" is malformed: " + form));
  for (auto text : {"1.5h", "5S", "5us", "5w", "1h30min", "0x10s", "5s "})
    CHECK_THAT(refusal(parse_duration, text),
               EndsWith(" has an unknown unit: " + form));
}

TEST_CASE("H90: a duration of zero and one that does not fit are refused") {
  CHECK(refusal(parse_duration, "0s") == "`0s` must be more than zero");
  CHECK(refusal(parse_duration, "36501d")
        == "`36501d` is too large: a duration is at most 36500d");
  for (auto text :
       {"9999999999d", "9223372036854775807d", "99999999999999999999ms"})
    CHECK_THAT(refusal(parse_duration, text),
               StartsWith('`' + std::string{text} + "` is too large"));
}

TEST_CASE("a size is in bytes, or says its unit") {
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes("65536") == 65536);
  CHECK(parse_bytes("64KiB") == 65536);
  CHECK(parse_bytes("1MiB") == 1048576);
  CHECK(parse_bytes("2GiB") == 2147483648);
  for (auto text : {"", "-1", "1 MiB", "1MB", "1mib", "01", "8589934592GiB",
                    "99999999999999999999"})
    CHECK(refusal(parse_bytes, text) != "accepted");
}

TEST_CASE("an integer is decimal and fits") {
  CHECK(parse_integer("-32") == -32);
  CHECK(parse_integer("0") == 0);
  CHECK(parse_integer("9223372036854775807") == INT64_MAX);
  CHECK(parse_integer("-9223372036854775808") == INT64_MIN);
  for (auto text : {"", "-", "+1", "010", "0x1", "1.0", "1e3", "--1",
                    "9223372036854775808"})
    CHECK(refusal(parse_integer, text) != "accepted");
}

TEST_CASE("a refused number is repeated clipped and printable") {
  CHECK(refusal(parse_integer, std::string(1 << 20, '\n'))
        == "`" + std::string(40, '?')
             + "...` is no decimal integer without leading zeros");
}
