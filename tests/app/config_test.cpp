#include "app/config_reference.hpp"
#include "app/config_table.hpp"
#include "tests/app/config_support.hpp"
#include "tests/support/unprivileged.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

using namespace config_tests;
using namespace std::chrono_literals;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

// -- what is read -------------------------------------------------------------

TEST_CASE("every key is read") {
  auto config = good(R"(
    database = "d.db", synchronous = "normal", busy-timeout = 1s
    max-payload = 2MiB, dedupe-for = "2d", retention = 3h
    wal-limit = "2GiB", lease-ttl = 6s, lease-renew = 1500ms
    stop-grace = 5min, allow-private-targets = false
    schedules = [{
      name = "s", spec = "@every 2s", queue = "q", payload = "p"
      priority = -1, expires-in = 1h, max-attempts = 7
      visibility-timeout = 2min, backoff-base = 3s
    }]
    queues = [
      { name = "q", command = ["a", "b"], concurrency = 2, timeout = 7s }
      , { name = "r", outbox = "o" }, { name = "t", log = true }
    ]
    outboxes = [{
      name = "o", url = "https://u:p@example.org:8443/x?y", concurrency = 9
      timeout = 8s, content-type = "text/plain", secret = "whsec_AAEC"
      headers { X-One = "1", "X.Two" = "2" }
    }, { name = "p", command = ["c"] }, { name = "l", log = true }])");
  CHECK(config.database == "d.db");
  CHECK_FALSE(config.synchronous_full);
  CHECK(config.busy_timeout == 1s);
  CHECK(config.max_payload == 2 << 20);
  CHECK(config.dedupe_for == 48h);
  CHECK(config.retention == 3h);
  CHECK(config.wal_limit == int64_t{2} << 30);
  CHECK(config.lease_ttl == 6s);
  CHECK(config.lease_renew == 1500ms);
  CHECK(config.stop_grace == 5min);
  CHECK_FALSE(config.allow_private_targets);

  REQUIRE(config.schedules.size() == 1);
  auto& schedule = config.schedules[0];
  CHECK(schedule.name + schedule.spec + schedule.queue + schedule.payload
        == "s@every 2sqp");
  job_options options;
  options.priority = -1;
  options.expires_in = 1h;
  options.max_attempts = 7;
  options.visibility_timeout = 2min;
  options.backoff_base = 3s;
  CHECK(schedule.options == options);

  REQUIRE(config.queues.size() == 3);
  auto& worker = std::get<command_config>(config.queues[0].handler);
  CHECK(config.queues[0].name == "q");
  CHECK(config.queues[0].concurrency == 2);
  CHECK(worker.argv == std::vector<std::string>{"a", "b"});
  CHECK(worker.timeout == 7s);
  CHECK(std::get<forward_config>(config.queues[1].handler).outbox == "o");
  CHECK(config.queues[1].concurrency == 8);
  CHECK(std::holds_alternative<log_config>(config.queues[2].handler));

  REQUIRE(config.outboxes.size() == 3);
  auto& http = std::get<http_config>(config.outboxes[0].handler);
  CHECK(config.outboxes[0].name == "o");
  CHECK(config.outboxes[0].concurrency == 9);
  CHECK(http.url == "https://u:p@example.org:8443/x?y");
  CHECK(http.timeout == 8s);
  CHECK(http.key == std::string("\0\1\2", 3));
  CHECK(http.content_type == "text/plain");
  using pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(http.headers == pairs{{"X-One", "1"}, {"X.Two", "2"}});
  auto& program = std::get<command_config>(config.outboxes[1].handler);
  CHECK(program.timeout == 10s);
  CHECK(std::holds_alternative<log_config>(config.outboxes[2].handler));
}

TEST_CASE("a missing key has the default of the table and of node_config") {
  std::string written;
  for (auto& key : find_section("alkstore").keys)
    if (!key.fallback.empty()) {
      auto quote = key.type == key_type::text ? "\"" : "";
      written.append("\n").append(key.name).append(" = ").append(quote);
      written.append(key.fallback).append(quote);
    }
  for (auto& config : {good(""), good(written)}) {
    node_config expected;
    CHECK(config.database == expected.database);
    CHECK(config.synchronous_full == expected.synchronous_full);
    CHECK(config.busy_timeout == expected.busy_timeout);
    CHECK(config.max_payload == expected.max_payload);
    CHECK(config.dedupe_for == expected.dedupe_for);
    CHECK(config.retention == expected.retention);
    CHECK(config.wal_limit == expected.wal_limit);
    CHECK(config.lease_ttl == expected.lease_ttl);
    CHECK(config.lease_renew == expected.lease_renew);
    CHECK(config.stop_grace == expected.stop_grace);
    CHECK(config.allow_private_targets == expected.allow_private_targets);
  }
  auto config = good("queues = [{ name = \"q\", command = [\"c\"] }]\n"
                     + outbox_with("url = \"http://h\""));
  CHECK(std::get<command_config>(config.queues[0].handler).timeout == 60s);
  auto& http = std::get<http_config>(config.outboxes[0].handler);
  CHECK(http.timeout == 10s);
  CHECK(http.content_type == "application/json");
  CHECK_FALSE(http.key.has_value());
  CHECK(good(schedule_with("")).schedules[0].options == job_options{});
}

TEST_CASE("lease-renew is a third of lease-ttl unless it is given") {
  CHECK(good("lease-ttl = 60s").lease_renew == 20s);
}

TEST_CASE("the file that is shipped has nothing to find") {
  auto root = fs::path{ALKSTORE_SOURCE_DIR};
  auto result = read_config(root / "config" / "caf-application.conf");
  CHECK(told(result) == "");
  CHECK(result.notes.empty());
  CHECK(result.rest.find_first_not_of(" \n") == std::string::npos);
  auto& config = result.config;
  CHECK(config.database == "alkstore-demo.db");
  REQUIRE(config.schedules.size() == 1);
  CHECK(config.schedules[0].spec == "@every 2s");
  CHECK(config.schedules[0].queue == config.queues.at(0).name);
  auto& target = std::get<forward_config>(config.queues.at(0).handler);
  CHECK(target.outbox == config.outboxes.at(0).name);
  CHECK(std::holds_alternative<log_config>(config.outboxes.at(0).handler));
}

// -- what is refused ----------------------------------------------------------

TEST_CASE("S25: what cannot be run is refused with the key's name") {
  CHECK(faults("\n lease_ttl = 15s")
        == "f:2: alkstore.lease_ttl: unknown key; the nearest one is "
           "lease-ttl\n");
  CHECK(faults("\n database = 5")
        == "f:2: alkstore.database: must be a text in quotes, is a number\n");
  CHECK_THAT(faults("\n stop-grace = 10"),
             StartsWith("f:2: alkstore.stop-grace: `10` has no unit: "));
  CHECK(faults("\n database = \"/no/such/place/x.db\"")
        == "f:2: alkstore.database: there is no directory /no/such/place\n");
  CHECK(faults("\n database = \"/tmp\"")
        == "f:2: alkstore.database: is a directory\n");
  CHECK(faults("\n database = \":memory:\"")
        == "f:2: alkstore.database: must be a path: memory and URIs will not "
           "do\n");
}

TEST_CASE("H88: a file that cannot be read is one finding with the reason") {
  scratch folder;
  auto reason = [](const std::string& path) { return told(read_config(path)); };
  CHECK(reason(folder.path("missing.conf"))
        == "f: cannot be read: No such file or directory\n");
  CHECK(reason(folder.path("")) == "f: cannot be read: Is a directory\n");
  CHECK(reason(folder.write("binary", std::string_view("alkstore {\0}", 12)))
        == "f: is no text: it holds a NUL byte\n");
  CHECK(reason(folder.write("large", std::string((4 << 20) + 1, '\n')))
        == "f: is larger than 4194304 bytes\n");
  auto closed = folder.write("closed", "alkstore { }");
  fs::permissions(closed, fs::perms::none);
  alkstore::test::unprivileged now;
  CHECK(reason(closed) == "f: cannot be read: Permission denied\n");
}

TEST_CASE("H88: a file without our block gives the defaults, and says so") {
  scratch folder;
  auto empty = read_config(folder.write("empty", ""));
  CHECK(told(empty) == "");
  CHECK(empty.notes
        == std::vector<std::string>{"is empty: every key has its default"});
  CHECK(empty.config.database == "alkstore.db");
  auto other = read_config_text("caf { x = 1 }\n");
  CHECK(told(other) == "");
  CHECK(other.notes
        == std::vector<std::string>{
          "has no alkstore { } block: every key has its default"});
  CHECK(other.rest == "caf { x = 1 }\n");
}

TEST_CASE("H88: a ~ is expanded or refused, never taken as a name") {
  scratch folder;
  folder.write("x.conf", "alkstore { stop-grace = 3s, database = \"~/d\" }");
  std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  setenv("HOME", folder.path("").c_str(), 1);
  auto result = read_config("~/x.conf");
  CHECK(told(result) == "");
  CHECK(result.config.stop_grace == 3s);
  CHECK(fs::path{result.config.database}.lexically_normal()
        == folder.path("d"));
  CHECK(told(read_config("~root/x.conf"))
        == "f: only a `~/` is expanded, no other `~`\n");
  unsetenv("HOME");
  CHECK(told(read_config("~/x.conf"))
        == "f: HOME is not set, so there is no `~`\n");
  setenv("HOME", home.c_str(), 1);
}

TEST_CASE("H89: four faults are four findings in one run") {
  CHECK(faults("\n stop-grace = 10s"
               "\n queues = ["
               "\n  { name = \"q\", log = true, max_attemps = 5 }"
               "\n ]"
               "\n url = \"http://h\""
               "\n stop-grace = 20s"
               "\n database = 7")
        == "f:4: alkstore.queues[0].max_attemps: unknown key; the nearest one "
           "is max-attempts, of schedules\n"
           "f:6: alkstore.url: unknown key; it is one of outboxes\n"
           "f:7: alkstore.stop-grace: is given twice, in line 2 and in line "
           "7\n"
           "f:8: alkstore.database: must be a text in quotes, is a number\n");
  CHECK(faults("\n databse = \"x\"\n log = true\n zzz = 1")
        == "f:2: alkstore.databse: unknown key; the nearest one is database\n"
           "f:3: alkstore.log: unknown key; it is one of queues and outboxes\n"
           "f:4: alkstore.zzz: unknown key\n");
}

TEST_CASE("H89: a wrong type names both types") {
  CHECK(faults("lease-ttl = [1s]")
        == "f:1: alkstore.lease-ttl: must be a duration like 15s, is a list\n");
  CHECK(faults("allow-private-targets = \"true\"")
        == "f:1: alkstore.allow-private-targets: must be true or false, is a "
           "text\n");
  CHECK(faults("max-payload = true")
        == "f:1: alkstore.max-payload: must be a size like 64KiB, is "
           "a boolean\n");
  CHECK(faults(schedule_with("priority = 5s"))
        == "f:1: alkstore.schedules[0].priority: must be an integer, is a "
           "duration\n");
  CHECK(faults("queues { name = \"q\" }")
        == "f:1: alkstore.queues: must be a list of { } maps, is a map\n");
  CHECK(faults("queues = [q]")
        == "f:1: alkstore.queues[0]: must be a { } map, is a word without "
           "quotes\n");
  CHECK(faults("queues = [{ name = \"q\", command = [\"a\", 5] }]")
        == "f:1: alkstore.queues[0].command[1]: must be a text in quotes, is a "
           "number\n");
  CHECK(faults(outbox_with("url = \"http://h\", headers { A = 1 }"))
        == "f:1: alkstore.outboxes[0].headers.A: must be a text in quotes, is "
           "a number\n");
  CHECK(told(read_config_text("alkstore = 5"))
        == "f:1: alkstore: must be a block: alkstore { }\n");
  CHECK(told(read_config_text("alkstore { }\nalkstore { x = 1 }"))
        == "f:2: alkstore: is given twice, in line 1 and in line 2\n");
}

TEST_CASE("every key of the table is read: a wrong type is found in each") {
  for (auto& section : config_sections())
    for (auto& key : section.keys) {
      auto is_map = key.type == key_type::headers
                    || key.type == key_type::section;
      std::string wrong = is_map ? "5" : "{ }";
      auto body = std::string{key.name} + " = " + wrong;
      auto path = "alkstore." + std::string{key.name};
      if (section.name == "publish") {
        body = "publish { " + body + " }";
        path = "alkstore.publish." + std::string{key.name};
      } else if (section.name != "alkstore") {
        body = std::string{section.name} + " = [{ " + body + " }]";
        path = "alkstore." + std::string{section.name} + "[0]."
               + std::string{key.name};
      }
      INFO(body);
      CHECK(faults(body).find(path + ": must be "
                              + std::string{type_text(key.type)})
            != std::string::npos);
    }
}

TEST_CASE("H90: what is no duration is refused alike in four keys") {
  auto form = ": a duration is a positive whole number directly followed by "
              "one of ms s min h d";
  auto too_large = " is too large: a duration is at most 36500d";
  const std::pair<std::string, std::string> cases[] = {
    {"600", "`600` has no unit" + std::string{form}},
    {"\"600\"", "`600` has no unit" + std::string{form}},
    {"0s", "`0s` must be more than zero"},
    {"-5s", "`-5s` is malformed" + std::string{form}},
    {"1e3s", "`1e3s` has an unknown unit" + std::string{form}},
    {"10 s", "`10 s` has an unknown unit" + std::string{form}},
    {"5m",
     "`5m` has an unknown unit" + std::string{form} + " (a minute is `min`)"},
    {"9999999999d", "`9999999999d`" + std::string{too_large}},
    {"\"99999999999999999999s\"", "`99999999999999999999s` is too large"},
  };
  for (auto& [value, reason] : cases) {
    CHECK(faults("lease-ttl = " + value)
          == "f:1: alkstore.lease-ttl: " + reason + "\n");
    CHECK(faults("stop-grace = " + value)
          == "f:1: alkstore.stop-grace: " + reason + "\n");
    CHECK(faults(schedule_with("visibility-timeout = " + value))
          == "f:1: alkstore.schedules[0].visibility-timeout: " + reason + "\n");
    CHECK(faults(outbox_with("url = \"http://h\", timeout = " + value))
          == "f:1: alkstore.outboxes[0].timeout: " + reason + "\n");
  }
}

TEST_CASE("H90: 5min is a duration, but too long for one delivery") {
  CHECK(good("lease-ttl = 5min").lease_ttl == 5min);
  CHECK(good("stop-grace = \"5min\"").stop_grace == 5min);
  auto config = good(schedule_with("visibility-timeout = 5min"));
  CHECK(config.schedules[0].options.visibility_timeout == 5min);
  CHECK(faults(outbox_with("log = false, url = \"http://h\", timeout = 5min"))
        == "f:1: alkstore.outboxes[0].timeout: must be 1ms to 55s: of a url or "
           "command; 5 s more fit the visibility timeout\n");
  CHECK(good(outbox_with("url = \"http://h\", timeout = 55s")).outboxes.size()
        == 1);
}

TEST_CASE("H90: a TTL under twice the renewal interval is refused") {
  CHECK(good("lease-ttl = 10s, lease-renew = 5s").lease_renew == 5s);
  CHECK(faults("\n lease-ttl = 10s\n lease-renew = 5001ms")
        == "f:3: alkstore.lease-renew: lease-ttl must be at least twice "
           "lease-renew\n");
  CHECK(faults("lease-renew = 8s")
        == "f:1: alkstore.lease-renew: lease-ttl must be at least twice "
           "lease-renew\n");
}

TEST_CASE("H91: an entry of queues without a name or a handler is refused") {
  CHECK(faults("queues = [{ log = true }]")
        == "f:1: alkstore.queues[0].name: is missing: a text in quotes\n");
  CHECK(faults("queues = [{ name = \"q\" }]")
        == "f:1: alkstore.queues[0]: needs exactly one handler of command, "
           "log, outbox; it has 0\n");
  CHECK(faults("queues = [{ name = \"q\", log = false }]")
        == "f:1: alkstore.queues[0]: needs exactly one handler of command, "
           "log, outbox; it has 0\n");
  CHECK(faults(outbox_with("log = true, url = \"http://h\""))
        == "f:1: alkstore.outboxes[0]: needs exactly one handler of url, "
           "command, log; it has 2\n");
  CHECK(faults("queues = [{ name = \"q\", command = [] }]")
        == "f:1: alkstore.queues[0].command: must begin with the program's "
           "name\n");
}

TEST_CASE("H32: a spec has the same verdict here as everywhere") {
  for (auto spec :
       {"@every5s", "@every  5s", "@every 5 s", "@every 5S", "@EVERY 5s",
        "@every 5w", "@every 5sm", "@every 5s;", "@every ５s",
        "@every 5\u202fs", "@everything", "@every 1h30m", ""})
    CHECK_THAT(faults("schedules = [{ name = \"s\", queue = \"q\", spec = \""
                      + std::string{spec} + "\" }]"),
               StartsWith("f:1: alkstore.schedules[0].spec: spec \""));
  CHECK(faults("schedules = [{ name = \"s\", queue = \"q\", spec = \"@every "
               "106751991167d\" }]")
        == "f:1: alkstore.schedules[0].spec: the next boundary does not fit "
           "into the calendar\n");
  CHECK(good(schedule_with("")).schedules.size() == 1);
}

TEST_CASE("names are checked as the store does, and are unique in a list") {
  CHECK_THAT(faults("queues = [{ name = \"a b\", log = true }]"),
             StartsWith("f:1: alkstore.queues[0].name: queue name \"a b\" "));
  CHECK_THAT(faults("schedules = [{ name = \"__alkstore\", queue = \"|\", spec "
                    "= \"@every 1s\" }]"),
             StartsWith("f:1: alkstore.schedules[0].name: schedule name "
                        "\"__alkstore\": names that begin with __alkstore"));
  CHECK(faults("\n queues = ["
               "\n  { name = \"q\", log = true },"
               "\n  { log = true, name = \"q\" }"
               "\n ]")
        == "f:4: alkstore.queues[1].name: is taken: the entry in line 3 has "
           "the same name\n");
  CHECK(faults("queues = [{ name = \"q\", outbox = \"o\" }]")
        == "f:1: alkstore.queues[0].outbox: there is no outbox o in "
           "outboxes\n");
}

TEST_CASE("numbers and texts outside of their range are refused") {
  CHECK(faults(schedule_with("priority = 32"))
        == "f:1: alkstore.schedules[0].priority: must be -32 to 31: higher "
           "goes first\n");
  CHECK_THAT(faults(schedule_with("max-attempts = 0")),
             StartsWith("f:1: alkstore.schedules[0].max-attempts: must be 1 "));
  CHECK_THAT(faults(outbox_with("log = true, concurrency = 1001")),
             StartsWith("f:1: alkstore.outboxes[0].concurrency: must be 1 to "
                        "1000"));
  CHECK_THAT(faults("max-payload = 0"),
             StartsWith("f:1: alkstore.max-payload: must be 1 to 512MiB"));
  CHECK(faults("synchronous = \"off\"")
        == "f:1: alkstore.synchronous: must be one of: full normal\n");
  CHECK(faults("max-payload = 3\n" + schedule_with("payload = \"four\""))
        == "f:2: alkstore.schedules[0].payload: is larger than max-payload\n");
}

TEST_CASE("a key that its entry's handler does not use is refused") {
  CHECK(faults("queues = [{ name = \"q\", log = true, timeout = 1s }]")
        == "f:1: alkstore.queues[0].timeout: is of no use here: it belongs to "
           "a command\n");
  CHECK(faults(outbox_with("log = true, timeout = 1s, secret = \"x\""))
        == "f:1: alkstore.outboxes[0].secret: is of no use here: it belongs to "
           "a url\n"
           "f:1: alkstore.outboxes[0].timeout: is of no use here: it belongs "
           "to a url or command\n");
}

// -- the table ----------------------------------------------------------------

TEST_CASE("the reference and the help name every key") {
  auto reference = config_reference();
  auto help = config_help();
  for (auto& section : config_sections())
    for (auto& key : section.keys) {
      CHECK(reference.find("| `" + std::string{key.name} + "` | ")
            != std::string::npos);
      CHECK(help.find("  " + std::string{key.name} + " ") != std::string::npos);
    }
  std::istringstream lines{help};
  for (std::string line; std::getline(lines, line);)
    CHECK(line.size() <= 80);
  CHECK(reference.find("| `lease-ttl` | a duration like 15s | `15s` | 1s to 1d "
                       "| how long a leader that went silent stays the leader "
                       "|\n")
        != std::string::npos);
}
