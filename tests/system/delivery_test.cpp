// Deliveries over HTTP as the program does them.

#include "tests/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/digest.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/receiver.hpp"
#include "tests/system/store_view.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>

using namespace alkstore;
using namespace alkstore::test;
using namespace std::chrono_literals;

namespace {

job_options attempts(int most, millis backoff = 10ms) {
  job_options out;
  out.max_attempts = most;
  out.backoff_base = backoff;
  return out;
}

std::string outbox(const std::string& name, const std::string& url,
                   const std::string& more = "") {
  return "{ name = \"" + name + "\", url = \"" + url + "\"\n" + more + " },\n";
}

std::string outboxes(const std::string& list) {
  return "database = \"a.db\"\nstop-grace = \"100ms\"\noutboxes = [\n" + list
         + "]";
}

bool contains(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

// The only dead letter of an outbox.
job dead_letter(const std::string& file, const std::string& outbox) {
  auto all = store_view{file}.dead(outbox);
  REQUIRE(all.size() == 1);
  return all.front();
}

} // namespace

TEST_CASE(
  "H80: 2xx is delivered, 410 is dead at once, any other answer is tried "
  "until no attempt is left, and the last status is kept") {
  temp_dir dir;
  receiver endpoint{[](const received& x) {
    if (x.path == "/100")
      return answer{"HTTP/1.1 100 Continue\r\n\r\n" + answer::status(200).text,
                    false, false};
    return answer::status(std::atoi(x.path.c_str() + 1));
  }};
  const std::vector<int> good{200, 204, 299, 100},
    bad{400, 401, 404, 408, 422, 425, 429, 500, 503, 599, 999}, gone{410};
  std::string list;
  for (auto group : {&good, &bad, &gone})
    for (auto code : *group) {
      auto name = "s" + std::to_string(code);
      list += outbox(name, endpoint.url("/" + std::to_string(code)));
      put_message(dir.path("a.db"), name, "x", attempts(5));
    }
  node_process node{dir.path(), outboxes(list)};
  auto requests = [&](int code) {
    auto all = endpoint.requests();
    return std::count_if(all.begin(), all.end(), [&](const received& x) {
      return x.path == "/" + std::to_string(code);
    });
  };
  for (auto code : good) {
    node.await("delivered s" + std::to_string(code));
    CHECK(requests(code) == 1);
  }
  for (auto code : bad) {
    auto name = "s" + std::to_string(code);
    node.await("dead " + name);
    CHECK(requests(code) == 5);
    auto letter = dead_letter(dir.path("a.db"), name);
    CHECK(letter.attempts == 5);
    CHECK(contains(letter.last_error, "status " + std::to_string(code)));
  }
  node.await("dead s410");
  CHECK(requests(410) == 1);
  CHECK(dead_letter(dir.path("a.db"), "s410").last_error == "status 410 gone");
}

TEST_CASE("H79: redirects are not followed, so no POST turns into a GET") {
  temp_dir dir;
  receiver endpoint{[](const received& x) {
    auto code = x.path == "/loop" ? 307 : std::atoi(x.path.c_str() + 1);
    if (code == 0)
      return answer::status(200);
    return answer::status(
      code, "Location: " + std::string{x.path == "/loop" ? "/loop" : "/target"}
              + "\r\n");
  }};
  const std::vector<std::string> paths{"301", "302", "303",
                                       "307", "308", "loop"};
  std::string list;
  for (auto& x : paths) {
    list += outbox(x, endpoint.url("/" + x));
    put_message(dir.path("a.db"), x, "body", attempts(1));
  }
  node_process node{dir.path(), outboxes(list)};
  for (auto& x : paths) {
    node.await("dead " + x);
    CHECK(contains(dead_letter(dir.path("a.db"), x).last_error, "status 30"));
  }
  CHECK(node.stop() == 0);
  auto requests = endpoint.requests();
  CHECK(requests.size() == paths.size());
  for (auto& x : requests) {
    CHECK(x.method == "POST");
    CHECK(x.body == "body");
    CHECK(x.path != "/target");
  }
}

TEST_CASE("H81: Retry-After is honoured in both its forms, never below the "
          "backoff, never above an hour") {
  temp_dir dir;
  auto in_two_minutes = std::time(nullptr) + 120;
  auto http_date = [](std::time_t when) {
    char text[64];
    std::tm parts{};
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT",
                  ::gmtime_r(&when, &parts));
    return std::string{text};
  };
  struct expectation {
    std::string headers;
    millis wait;
  };
  auto header = [](const std::string& value) {
    return "Retry-After: " + value + "\r\n";
  };
  const std::map<std::string, expectation> cases{
    {"seconds", {header("120"), 120s}},
    {"negative", {header("-5"), 10s}},
    {"zero", {header("0"), 10s}},
    {"past", {header("Wed, 21 Oct 2015 07:28:00 GMT"), 10s}},
    {"huge", {header("999999999"), 1h}},
    {"two", {header("5") + header("120"), 120s}},
    {"none", {"", 10s}},
    {"date", {header(http_date(in_two_minutes)), 0s}},
  };
  receiver endpoint{[&](const received& x) {
    return answer::status(x.body == "zero" ? 503 : 429,
                          cases.at(x.body).headers);
  }};
  std::map<std::string, int64_t> ids;
  for (auto& [body, x] : cases)
    ids[body] = put_message(dir.path("a.db"), "box", body, attempts(5, 10s));
  auto before = clock::system().wall_now();
  node_process node{dir.path(), outboxes(outbox("box", endpoint.url()))};
  node.await("failed box", cases.size());
  auto after = clock::system().wall_now();
  CHECK(node.stop() == 0);
  store_view view{dir.path("a.db")};
  for (auto& [body, x] : cases) {
    INFO(body);
    auto job = view.get(ids[body]);
    CHECK(job.attempts == 1);
    if (body == "date") {
      auto date = timestamp{std::chrono::seconds{in_two_minutes}};
      CHECK(job.run_at >= date);
      CHECK(job.run_at <= date + (after - before));
    } else {
      CHECK(job.run_at >= before + x.wait);
      CHECK(job.run_at <= after + x.wait);
    }
  }
}

TEST_CASE(
  "H83: each retry carries a signature of its own over the exact bytes, "
  "under one id") {
  temp_dir dir;
  const std::string payload{"\0nul, \303\274, \377 and blanks  ", 24};
  std::atomic<int> requests{0};
  receiver endpoint{[&](const received&) {
    return answer::status(++requests < 3 ? 500 : 200);
  }};
  put_message(dir.path("a.db"), "box", payload, attempts(5));
  node_process node{
    dir.path(),
    outboxes(outbox("box", endpoint.url(), "secret = \"a plain secret\""))};
  node.await("delivered box");
  CHECK(node.stop() == 0);
  auto all = endpoint.requests();
  REQUIRE(all.size() == 3);
  for (auto& x : all) {
    CHECK(x.body == payload);
    CHECK(x.id() == all.front().id());
    auto& time = x.headers.at("webhook-timestamp");
    CHECK(std::abs(std::stoll(time) - std::time(nullptr)) < 60);
    CHECK(x.headers.at("webhook-signature")
          == "v1,"
               + hmac_sha256("a plain secret",
                             x.id() + "." + time + "." + payload));
  }
}

TEST_CASE(
  "H86: a retry after an outage of 20 minutes has a fresh timestamp and "
  "every header of the first attempt") {
  temp_dir dir;
  auto clock_file = write_file(dir.path("clock"), std::string(8, '\0'));
  std::atomic<bool> up{false};
  receiver endpoint{
    [&](const received&) { return answer::status(up ? 200 : 500); }};
  auto file = dir.path("a.db");
  put_message(file, "box", "x", attempts(5, 10min));
  node_options options;
  options.program = ALKSTORE_NODE_TEST_CLOCK;
  options.environment = {"ALKSTORE_TEST_CLOCK_FILE=" + clock_file};
  node_process node{
    dir.path(),
    outboxes(outbox("box", endpoint.url(),
                    "secret = \"s\", headers { x-more = \"1\" }")),
    options};
  node.await("failed box");
  up = true;
  int64_t outage = std::chrono::milliseconds{20min}.count();
  std::string bytes(sizeof outage, '\0');
  std::memcpy(bytes.data(), &outage, sizeof outage);
  std::ofstream{clock_file, std::ios::in | std::ios::binary} << bytes;
  put_message(file, "box", "wakes the node up");
  node.await("delivered box", 2);
  CHECK(node.stop() == 0);
  std::vector<received> tries;
  for (auto& x : endpoint.requests())
    if (x.body == "x")
      tries.push_back(x);
  REQUIRE(tries.size() == 2);
  CHECK(tries[1].id() == tries[0].id());
  auto stamp = [](const received& x) {
    return std::stoll(x.headers.at("webhook-timestamp"));
  };
  CHECK(stamp(tries[1]) - stamp(tries[0]) >= 20 * 60);
  CHECK(stamp(tries[1]) - stamp(tries[0]) < 21 * 60);
  CHECK(tries[1].headers.at("webhook-signature")
        != tries[0].headers.at("webhook-signature"));
  for (auto& [name, value] : tries[0].headers)
    CHECK(tries[1].headers.contains(name));
  CHECK(tries[0].headers.at("x-more") == "1");
}

TEST_CASE("H77: an answer that trickles in, or none at all, ends with the "
          "delivery's deadline") {
  temp_dir dir;
  raw_server trickling{[](int fd) {
    if (!read_request(fd).empty())
      trickle(fd, "HTTP/1.1 200 OK\r\nX-Slow: " + std::string(10'000, 'x'));
  }};
  raw_server deaf{[](int fd) { await_close(fd); }};
  const std::string limit = "timeout = \"500ms\"";
  put_message(dir.path("a.db"), "trickling", "x", attempts(1));
  put_message(dir.path("a.db"), "deaf", "x", attempts(1));
  node_process node{dir.path(),
                    outboxes(outbox("trickling", trickling.url(), limit)
                             + outbox("deaf", deaf.url(), limit))};
  for (std::string name : {"trickling", "deaf"}) {
    auto line = node.await("dead " + name).text;
    CHECK(contains(line, "timeout"));
    auto took = std::atoi(line.c_str() + line.find("took=") + 5);
    CHECK(took >= 490); // both clocks are read in whole milliseconds
    CHECK(took < 2000); // 550 on a machine of its own
  }
  CHECK(node.stop() == 0);
}

TEST_CASE(
  "H78: an endpoint that never answers does not slow down another one") {
  temp_dir dir;
  receiver hanging{[](const received&) { return answer::never(); }};
  receiver quick;
  auto file = dir.path("a.db");
  put_messages(file, "x", std::vector<std::string>(500, "x"));
  node_process node{dir.path(), outboxes(outbox("x", hanging.url())
                                         + outbox("y", quick.url()))};
  hanging.await(8);
  auto begin = steady_now();
  for (int i = 1; i <= rounds(10, 300); ++i) {
    auto put = steady_now();
    put_message(file, "y", "y");
    CHECK(node.await("delivered y", static_cast<size_t>(i)).at - put < 2s);
  }
  // 8 at once, for the 10 s of a delivery's deadline.
  auto turns = 1 + (steady_now() - begin) / 10s;
  CHECK(hanging.count() <= static_cast<size_t>(8 * (turns + 1)));
}

TEST_CASE(
  "H85: messages that fail again and again do not keep a later one from "
  "its turn") {
  temp_dir dir;
  receiver endpoint{[](const received& x) {
    return answer::status(x.body == "good" ? 200 : 500);
  }};
  auto file = dir.path("a.db");
  put_messages(file, "box", std::vector<std::string>(200, "bad"),
               attempts(1'000'000, 1ms));
  node_process node{dir.path(), outboxes(outbox("box", endpoint.url()))};
  node.await("failed box", 250);
  auto begin = steady_now();
  put_message(file, "box", "good");
  CHECK(node.await("delivered box").at - begin < 5s);
}

TEST_CASE("H43: a message that another process puts in is delivered within a "
          "second, whenever it comes, and a delayed one once it is due") {
  temp_dir dir;
  auto file = dir.path("a.db");
  node_process node{dir.path(), "database = \"a.db\"\noutboxes = [{ name = "
                                "\"box\", log = true }]"};
  node.await("leading");
  auto put = [&](size_t number, const job_options& options = {}) {
    auto begin = steady_now();
    put_message(file, "box", "x", options);
    return node.await("delivered box", number).at - begin;
  };
  millis worst{0};
  auto count = static_cast<size_t>(rounds(100, 500));
  for (size_t i = 1; i <= count; ++i)
    worst = std::max<millis>(worst, put(i));
  CHECK(worst < 1s);
  job_options later;
  later.delay = 700ms;
  auto took = put(count + 1, later);
  CHECK(took >= 700ms);
  CHECK(took < 1700ms);
}

TEST_CASE("H84: after a SIGKILL between the endpoint's answer and the ack a "
          "message is delivered once more, under the same id") {
  temp_dir dir;
  auto file = dir.path("a.db");
  std::atomic<pid_t> victim{0};
  receiver endpoint{[&](const received&) {
    if (auto pid = victim.exchange(0); pid != 0)
      ::kill(pid, SIGKILL);
    return answer::status(200);
  }};
  auto block = outboxes(outbox("box", endpoint.url()));
  auto options = attempts(100);
  options.visibility_timeout = 5s;            // longer than a batch takes
  std::map<std::string, std::string> body_of; // by id
  for (int batch = 0; batch < rounds(1, 20); ++batch) {
    std::set<std::string> sent;
    for (int i = 0; i < 10; ++i) {
      node_process node{dir.path(), block};
      node.await("started");
      victim = node.pid();
      auto body = std::to_string(batch) + "/" + std::to_string(i);
      sent.insert(body);
      put_message(file, "box", body, options);
      CHECK(node.exit_status() == 128 + SIGKILL);
    }
    node_process node{dir.path(), block};
    node.await("delivered box", sent.size());
    CHECK(node.stop() == 0);
  }
  std::map<std::string, std::pair<int, std::set<std::string>>> seen; // by body
  for (auto& x : endpoint.requests()) {
    auto& [count, ids] = seen[x.body];
    ++count;
    ids.insert(x.id());
    CHECK(body_of.emplace(x.id(), x.body).first->second == x.body);
  }
  CHECK(seen.size() == static_cast<size_t>(rounds(10, 200)));
  for (auto& [body, x] : seen) {
    CHECK(x.first == 2);
    CHECK(x.second.size() == 1);
  }
  CHECK(store_view{file}.payloads().empty());
}

TEST_CASE(
  "H87: secrets and payloads reach neither the log nor an error nor the "
  "process list") {
  temp_dir dir;
  const std::string secret = "S3NTINEL";
  receiver endpoint{[](const received& x) {
    if (x.path.starts_with("/slow"))
      return answer::never();
    return answer::status(std::atoi(x.path.c_str() + 1));
  }};
  auto there = [&](const std::string& scheme, int port,
                   const std::string& path) {
    return scheme + "://u:" + secret + "@127.0.0.1:" + std::to_string(port)
           + path + "?token=" + secret;
  };
  auto more = "timeout = \"500ms\", secret = \"" + secret
              + "\", headers { Authorization = \"Bearer " + secret + "\" }";
  auto list = outbox("good", there("http", endpoint.port(), "/200"), more)
              + outbox("bad", there("http", endpoint.port(), "/500"), more)
              + outbox("slow", there("http", endpoint.port(), "/slow"), more)
              + outbox("refused", there("http", 1, "/200"), more)
              + outbox("tls", there("https", endpoint.port(), "/200"), more);
  const std::vector<std::string> failing{"bad", "slow", "refused", "tls"};
  auto file = dir.path("a.db");
  put_message(file, "good", "PAYL0AD");
  for (auto& x : failing)
    put_message(file, x, "PAYL0AD", attempts(2));
  node_process node{dir.path(), outboxes(list)};
  node.await("delivered good");
  std::string told;
  for (auto& x : failing) {
    node.await("failed " + x);
    node.await("dead " + x);
    told += dead_letter(file, x).last_error + "\n";
  }
  CHECK(contains(told, "127.0.0.1"));
  std::ifstream list_entry{"/proc/" + std::to_string(node.pid()) + "/cmdline"};
  told += std::string{std::istreambuf_iterator<char>{list_entry}, {}};
  CHECK(contains(told, "alkstore-node"));
  CHECK(node.stop() == 0);
  told += node.output();
  INFO(told);
  CHECK(contains(node.output(), "job="));
  CHECK_FALSE(contains(told, secret));
  CHECK_FALSE(contains(told, "PAYL0AD"));
  for (auto& x : endpoint.requests()) // it was there to be told
    CHECK(contains(x.path, secret));
}
