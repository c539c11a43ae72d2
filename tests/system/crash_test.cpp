// Processes that die at any instant.

#include "tests/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/feeding.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/receiver.hpp"
#include "tests/system/store_view.hpp"

#include <random>
#include <sstream>
#include <thread>

using namespace alkstore;
using namespace alkstore::test;

namespace {

// A client that feeds numbered lines, and remembers which were on disk.
class producer {
public:
  producer(const temp_dir& dir, std::set<std::string>& acknowledged)
    : dir_(dir), acknowledged_(acknowledged) {
    start();
  }

  ~producer() { collect(); }

  void kill() {
    client_->kill();
    collect();
    start();
  }

  void finish() { CHECK(client_->exit_status() == 0); }

private:
  static constexpr int lines = 500;

  void start() {
    ++life_;
    std::string input;
    for (int i = 1; i <= lines; ++i)
      input += payload(i) + "\n";
    client_ = std::make_unique<child_process>(
      feeding(dir_.path("a.db"), write_file(dir_.path("input"), input)));
  }

  std::string payload(int line) const {
    return "life " + std::to_string(life_) + " line " + std::to_string(line);
  }

  void collect() {
    for (auto& x : client_->matching("")) {
      std::istringstream text{x.text};
      int line = 0;
      int64_t id = 0;
      if (text >> line >> id)
        acknowledged_.insert(payload(line));
    }
  }

  const temp_dir& dir_;
  std::set<std::string>& acknowledged_;
  int life_ = 0;
  std::unique_ptr<child_process> client_;
};

} // namespace

TEST_CASE("S22, H67: nothing that was answered with success is missing after "
          "SIGKILLs of any process at any instant") {
  temp_dir dir;
  receiver endpoint;
  auto block = "database = \"a.db\"\nlease-ttl = \"1s\"\n"
               "schedules = [{ name = \"beat\", spec = \"@every 1s\", "
               "queue = \"beats\" }]\n"
               "outboxes = [{ name = \"hooks\", url = \""
               + endpoint.url() + "\" }]";
  node_options options;
  options.log = std::make_shared<line_log>();
  auto start = [&] {
    return std::make_unique<node_process>(dir.path(), block, options);
  };
  std::unique_ptr<node_process> nodes[] = {start(), start()};
  std::set<std::string> acknowledged;
  {
    producer client{dir, acknowledged};
    std::minstd_rand random{std::random_device{}()};
    for (int round = 0; round < rounds(20, 200); ++round) {
      std::this_thread::sleep_for(millis{random() % 300}); // any instant
      if (auto victim = random() % 3; victim == 2) {
        client.kill();
      } else {
        nodes[victim]->kill();
        nodes[victim] = start();
      }
    }
    client.finish();
  }
  nodes[0]->await("started");
  nodes[1]->await("started");
  options.log->await("fired beat", options.log->count("fired beat") + 2);
  CHECK(nodes[0]->stop() == 0);
  CHECK(nodes[1]->stop() == 0);

  store_view view{dir.path("a.db")};
  auto found = view.payloads();
  std::map<std::string, std::string> body_of; // by id
  auto stable = true;
  for (auto& x : endpoint.requests()) {
    found.insert(x.body);
    stable &= body_of.emplace(x.id(), x.body).first->second == x.body;
  }
  CHECK(stable);
  std::string missing;
  for (auto& x : acknowledged)
    if (!found.contains(x))
      missing += x + "\n";
  CHECK(missing == "");
  CHECK(acknowledged.size() >= 500); // the last life's at least
  CHECK(view.boundary_faults(std::chrono::seconds{1}) == "");
  CHECK(view.number("SELECT count(*) FROM alkstore_jobs "
                    "WHERE attempts > max_attempts")
        == 0);
  CHECK(view.number("SELECT count(*) FROM alkstore_locks "
                    "WHERE owner IS NOT NULL")
        == 0);
  CHECK(view.text("PRAGMA integrity_check") == "ok");
}
