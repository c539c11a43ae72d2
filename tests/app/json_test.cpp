// JSON, times and hints, as the command line and the extension have them.
#include "app/json/json.hpp"

#include "app/json/base64.hpp"
#include "app/json/job_record.hpp"
#include "app/json/nearest.hpp"
#include "app/json/time_text.hpp"
#include "substrate/error.hpp"
#include "tests/app/environment_variable.hpp"
#include "tests/catch.hpp"

#include <ctime>

using namespace alkstore;
using namespace std::chrono_literals;

namespace {

template <class F>
std::string refusal(F what) {
  try {
    what();
  } catch (const failure& why) {
    CHECK(why.code() == errc::invalid_argument);
    return why.what();
  }
  return "(accepted)";
}

std::string all_bytes() {
  std::string out;
  for (int i = 0; i < 256; ++i)
    out += static_cast<char>(i);
  return out;
}

} // namespace

TEST_CASE("base64 is RFC 4648's, and nothing else is taken") {
  const std::pair<std::string, std::string> known[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (auto& [bytes, text] : known) {
    CHECK(to_base64(bytes) == text);
    CHECK(from_base64(text) == bytes);
  }
  CHECK(from_base64(to_base64(all_bytes())) == all_bytes());
  for (auto* wrong : {"Zg", "Zg=", "Zg===", "Zh==", "Z", "Zm9v\n", "Zm 9v",
                      "Zm9-", "=", "Zg==Zg=="})
    CHECK(from_base64(wrong) == std::nullopt);
}

TEST_CASE("a time is read with an offset, in UTC or in local time") {
  test::environment_variable zone{"TZ", "UTC-2"};
  ::tzset();
  const timestamp when{1'700'000'000s};
  for (auto* text : {"2023-11-14T22:13:20Z", "2023-11-14 22:13:20.000Z",
                     "2023-11-15T00:13:20+02:00", "2023-11-14T16:43:20-0530",
                     "2023-11-15T00:13:20"})
    CHECK(parse_time(text) == when);
  CHECK(parse_time("2023-11-14T22:13Z") == when - 20s);
  CHECK(parse_time("2023-11-14T22:13:20.7Z") == when + 700ms);
  CHECK(parse_time("2023-11-14T22:13:20.071Z") == when + 71ms);
  CHECK(utc_text(when + 7ms) == "2023-11-14T22:13:20.007Z");
  CHECK(local_text(when) == "2023-11-15 00:13:20.000 +0200");
  CHECK(parse_time(utc_text(when + 7ms)) == when + 7ms);
  CHECK(parse_time(local_text(when).replace(23, 1, "")) == when);
  for (auto* wrong :
       {"", "2023-11-14", "2023-02-29T00:00Z", "2023-13-01T00:00Z",
        "2023-11-14T24:00Z", "2023-11-14T22:13:60Z", "2023-11-14T22:13:20.Z",
        "2023-11-14T22:13:20.0000Z", "2023-11-14T22:13:20z",
        "2023-11-14T22:13:20+2", "2023-11-14T22:13:20Zx", "1700000000",
        "tomorrow"})
    CHECK(refusal([&] { parse_time(wrong); }).substr(0, 1) == "\"");
}

TEST_CASE("a duration is shown in the largest unit that is exact") {
  CHECK(duration_text(0ms) == "0ms");
  CHECK(duration_text(1500ms) == "1500ms");
  CHECK(duration_text(90s) == "90s");
  CHECK(duration_text(300s) == "5min");
  CHECK(duration_text(-2h) == "-2h");
  CHECK(duration_text(48h) == "2d");
}

TEST_CASE("each kind of value has its JSON") {
  record what{{"none", {}},
              {"yes", true},
              {"number", int64_t{-5}},
              {"text", std::string{"a\"\n\xC3\xB6"}},
              {"at", timestamp{1'700'000'000s}},
              {"span_ms", millis{90'000}},
              {"payload", raw_bytes{std::string{"x\0y", 3}}},
              {"other", raw_bytes{"\xFF"}}};
  CHECK(to_json(what)
        == R"({"none":null,"yes":true,"number":-5,"text":"a\"\nö",)"
           R"("at":"2023-11-14T22:13:20.000Z","span_ms":90000,)"
           R"("payload":"x\u0000y","other_base64":"/w=="})");
  CHECK(to_json(std::vector<record>{}) == "[]");
  CHECK(to_json(std::vector<record>{{{"a", true}}, {}})
        == "[{\"a\":true},\n {}]");
  CHECK(to_json(record{{"worker", std::string{"\xFF"}}})
        == "{\"worker\":\"\xEF\xBF\xBD\"}");
}

TEST_CASE("options are read from an object, each under its name") {
  auto all = options_from_json(
    R"({"priority": -32, "delay_ms": 0, "run_at": "2023-11-14T22:13:20Z",
        "expires_in_ms": 1, "max_attempts": 2147483647,
        "visibility_timeout_ms": 9223372036854775807, "backoff_base_ms": -1,
        "dedupe_key": "ö"})");
  CHECK(all
        == job_options{-32, 0ms, timestamp{1'700'000'000s}, 1ms, 2147483647,
                       millis::max(), -1ms, "ö"}); // the store has the ranges
  CHECK(options_from_json("{}") == job_options{});
}

TEST_CASE("what is no object of options is refused, and its values are not "
          "repeated") {
  const std::pair<std::string, std::string> wrong[] = {
    {"", "no JSON, from byte"},
    {"{", "no JSON, from byte"},
    {"{} x", "no JSON, from byte"},
    {"{\"dedupe_key\": \"S3CRET\xFF\"}", "no JSON, from byte"},
    {"[]", "the JSON is no object"},
    {"null", "the JSON is no object"},
    {R"({"prio": "S3CRET"})", "unknown key \"prio\"; the nearest one is"},
    {R"({"priority": "S3CRET"})", "priority: must be an integer"},
    {R"({"priority": 1e2})", "priority: must be an integer"},
    {R"({"priority": 2147483648})", "priority: is out of range"},
    {R"({"delay_ms": 9223372036854775808})", "delay_ms: is out of range"},
    {R"({"delay_ms": null})", "delay_ms: must be an integer"},
    {R"({"dedupe_key": 5})", "dedupe_key: must be a text"},
    {R"({"run_at": 5})", "run_at: must be a text"}};
  for (auto& [text, why] : wrong) {
    CAPTURE(text);
    auto said = refusal([&] { options_from_json(text); });
    CHECK(said.substr(0, why.size()) == why);
    CHECK(said.find("S3CRET") == std::string::npos);
  }
  // Deep nesting neither ends the program nor is taken.
  std::string deep(100'000, '[');
  CHECK(refusal([&] { options_from_json(deep); }) != "(accepted)");
  deep = "{\"dedupe_key\":" + deep + std::string(100'000, ']') + "}";
  CHECK(refusal([&] { options_from_json(deep); })
        == "dedupe_key: must be a text");
}

TEST_CASE("a message has just one payload") {
  auto message = message_from_json(R"({"payload": "x\u0000", "priority": 3})");
  CHECK(message.payload == std::string{"x\0", 2});
  CHECK(message.options.priority == 3);
  CHECK(message_from_json(R"({"payload_base64": "/w=="})").payload == "\xFF");
  for (auto* wrong :
       {"{}", R"({"payload": "x", "payload_base64": ""})",
        R"({"payload_base64": "/w="})", R"({"payload": {}})", R"(["x"])"})
    CHECK(refusal([&] { message_from_json(wrong); }) != "(accepted)");
}

TEST_CASE("a hint names what was nearly meant, or nothing") {
  constexpr std::string_view known[] = {"jobs", "job", "queues", "schedule"};
  CHECK(did_you_mean("jbos", known) == "; the nearest one is \"jobs\"");
  CHECK(did_you_mean("sched", known) == "; the nearest one is \"schedule\"");
  CHECK(did_you_mean("xyz", known).empty());
  CHECK(did_you_mean("", known).empty());
  CHECK(did_you_mean(std::string(100'000, 'x'), known).empty());
  CHECK(shown("a\x1b") == "\"a?\"");
  CHECK(shown(std::string(50, 'a')) == "\"" + std::string(40, 'a') + "...\"");
}

TEST_CASE("a waiting job whose run_at is to come is delayed") {
  job x;
  x.queue = "__alkstore_outbox:box";
  x.run_at = timestamp{1s};
  auto state = [&](timestamp now) {
    return std::get<std::string>(job_record(x, now).at(1).value);
  };
  CHECK(state(timestamp{999ms}) == "delayed");
  CHECK(state(timestamp{1s}) == "waiting");
  x.state = job_state::running;
  CHECK(state(timestamp{0s}) == "running");
  auto fields = job_record(x, timestamp{});
  CHECK(std::holds_alternative<std::monostate>(fields.at(2).value));
  CHECK(std::get<std::string>(fields.at(3).value) == "box");
}
