// Real payloads, from a client's file to an HTTP endpoint, byte for byte.

#include "tests/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/digest.hpp"
#include "tests/system/feeding.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/receiver.hpp"
#include "tests/system/store_view.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <random>

using namespace alkstore;
using namespace alkstore::test;

namespace {

constexpr size_t payload_count = 329;

// Like the real ones: a median of 8 kB, at most 28 kB, some of it not ASCII.
std::vector<std::string> made_payloads() {
  const std::vector<std::string> pieces{
    "\"id\":21796960,",          "\"url\":\"https://api.example.com/repos/1\",",
    "\"login\":\"Übersetzer\",", "\"body\":\"完成 ✓ \\\"quoted\\\" \\n\",",
    "\"emoji\":\"🚀\",",         "\"private\":false,",
    "\"score\":-1.5e3,",         "null,"};
  std::mt19937 random{329};
  std::lognormal_distribution<> size{9.0, 0.6};
  std::vector<std::string> out;
  while (out.size() < payload_count) {
    auto bytes = std::min(size(random), 28'000.0);
    auto text = "{\"event\":" + std::to_string(out.size()) + ",\"payload\":[";
    while (text.size() < bytes)
      text += pieces[random() % pieces.size()];
    out.push_back(text + "0]}");
  }
  return out;
}

std::vector<std::string> payloads() {
  std::ifstream file{ALKSTORE_SOURCE_DIR
                     "/../shared/data/github-webhooks.jsonl",
                     std::ios::binary};
  if (!file)
    return made_payloads();
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);)
    out.push_back(line);
  return out;
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string out;
  for (auto& x : texts)
    out += x + "\n";
  return out;
}

struct delivery_run {
  temp_dir dir;
  std::atomic<pid_t> victim{0}; ///< killed during every step-th request
  std::atomic<size_t> requests{0};
  size_t step = payload_count;
  receiver endpoint{[this](const received&) {
    if (++requests % step == 0)
      if (auto pid = victim.exchange(0); pid != 0)
        ::kill(pid, SIGKILL);
    return answer::status(200);
  }};
  std::vector<std::string> sent = payloads();
  std::string block =
    "database = \"a.db\"\noutboxes = [{ name = \"hooks\", url = \""
    + endpoint.url() + "\" }]";

  void feed(const std::string& visibility) {
    auto input = write_file(dir.path("input"), lines_of(sent));
    child_process client{feeding(dir.path("a.db"), input, visibility)};
    CHECK(client.exit_status() == 0);
    CHECK(client.count("") == sent.size());
  }

  std::multiset<std::string> digests_sent() const {
    std::multiset<std::string> out;
    for (auto& x : sent)
      out.insert(sha256(x));
    return out;
  }
};

} // namespace

TEST_CASE(
  "S27: 329 payloads reach an endpoint byte for byte, each exactly once "
  "without faults") {
  delivery_run run;
  REQUIRE(run.sent.size() == payload_count);
  node_process node{run.dir.path(), run.block};
  run.feed("60s");
  node.await("delivered hooks", payload_count);
  CHECK(node.stop() == 0);
  std::multiset<std::string> digests;
  std::set<std::string> ids;
  for (auto& x : run.endpoint.requests()) {
    digests.insert(sha256(x.body));
    ids.insert(x.id());
  }
  CHECK(digests == run.digests_sent());
  CHECK(ids.size() == payload_count);
  CHECK(store_view{run.dir.path("a.db")}.payloads().empty());
}

TEST_CASE(
  "S27: 329 payloads reach an endpoint byte for byte, each at least once "
  "and under one id, while the node is killed again and again") {
  delivery_run run;
  auto kills = static_cast<size_t>(rounds(3, 10));
  run.step = payload_count / (kills + 1);
  run.feed("3s");
  for (size_t i = 0; i < kills; ++i) {
    node_process node{run.dir.path(), run.block};
    run.victim = node.pid();
    CHECK(node.exit_status() == 128 + SIGKILL);
  }
  node_process node{run.dir.path(), run.block};
  // Each kill left at least one without its answer: it comes once more.
  run.endpoint.await([=](const std::vector<received>& requests) {
    std::set<std::string> ids;
    for (auto& x : requests)
      ids.insert(x.id());
    return ids.size() >= payload_count
           && requests.size() >= payload_count + kills;
  });
  CHECK(node.stop() == 0);
  std::map<std::string, std::string> digest_of; // by id
  auto stable = true;
  for (auto& x : run.endpoint.requests()) {
    auto digest = sha256(x.body);
    stable &= digest_of.emplace(x.id(), digest).first->second == digest;
  }
  CHECK(stable);
  std::multiset<std::string> digests;
  for (auto& [id, digest] : digest_of)
    digests.insert(digest);
  CHECK(digests == run.digests_sent());
  CHECK(store_view{run.dir.path("a.db")}.dead("hooks").empty());
}
