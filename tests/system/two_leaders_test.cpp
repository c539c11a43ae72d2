// Several nodes on one file: one leads, and each boundary fires once.

#include "substrate/leases.hpp"
#include "substrate/transaction.hpp"
#include "tests/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/store_view.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

using namespace alkstore;
using namespace alkstore::test;
using namespace std::chrono_literals;

namespace {

constexpr millis ttl = 1s;

timestamp wall_now() {
  return clock::system().wall_now();
}

// Nodes on one file, in one log. Nobody works on what is fired, so that the
// file keeps it.
class nodes {
public:
  explicit nodes(std::string program = ALKSTORE_NODE)
    : program_(std::move(program)) {}

  /// A node with those schedules and, if it is to be another, that lease time.
  node_process& start(const std::vector<std::string>& schedules,
                      const std::string& spec = "@every 1s",
                      millis lease = ttl) {
    std::string block = "database = \"a.db\"\nsynchronous = \"normal\"\n"
                        "lease-ttl = \""
                        + std::to_string(lease.count())
                        + "ms\"\nschedules = [\n";
    for (auto& x : schedules)
      block += "{ name = \"" + x + "\", spec = \"" + spec
               + "\", queue = \"q\" },\n";
    node_options options;
    options.program = program_;
    options.environment = {"ALKSTORE_TEST_CLOCK_FILE=" + dir.path("clock")};
    options.log = log;
    all_.push_back(
      std::make_unique<node_process>(dir.path(), block + "]", options));
    all_.back()->await("started");
    return *all_.back();
  }

  /// Who said last that it leads.
  node_process& leader() {
    auto lines = log->matching("leading");
    for (auto& x : all_)
      if (!lines.empty() && x->pid() == lines.back().from)
        return *x;
    throw std::runtime_error{"nobody leads:\n" + log->text()};
  }

  node_process& standby() {
    auto& leads = leader();
    for (auto& x : all_)
      if (x.get() != &leads && !x->matching("started").empty())
        return *x;
    throw std::runtime_error{"nobody stands by"};
  }

  std::string file() const { return dir.path("a.db"); }

  temp_dir dir;
  std::shared_ptr<line_log> log = std::make_shared<line_log>();

private:
  std::string program_;
  std::vector<std::unique_ptr<node_process>> all_;
};

std::vector<std::string> names(int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i)
    out.push_back("s" + std::to_string(i) + ".");
  return out;
}

// Holds the write lock of the file while it lives.
class foreign_writer {
public:
  explicit foreign_writer(const std::string& file)
    : db_(file, {.sync = durability::normal}), tx_(db_) {}

private:
  connection db_;
  transaction tx_;
};

// Not inside a write transaction, where it would block everybody.
void freeze_outside_a_write(node_process& x, const std::string& file) {
  for (;;) {
    x.freeze();
    try {
      open_options options{.sync = durability::normal};
      options.busy_timeout = 500ms;
      connection db{file, options};
      transaction{db};
      return;
    } catch (const failure&) {
      x.signal(SIGCONT);
    }
  }
}

// Nodes with `count` schedules each live through `changes` changes of the
// leader, by SIGKILL and by SIGTERM in turn, and `boundaries` of each schedule.
void run_many(int count, int changes, size_t boundaries, int standbys) {
  nodes all;
  auto schedules = names(count);
  auto begin = wall_now();
  all.start(schedules);
  auto started = wall_now();
  for (int i = 0; i < standbys; ++i)
    all.start(schedules);
  std::minstd_rand random{std::random_device{}()};
  for (int change = 0; change < changes; ++change) {
    all.log->await("leading", static_cast<size_t>(change) + 1);
    all.log->await("fired s0.", all.log->count("fired s0.") + 1);
    std::this_thread::sleep_for(millis{random() % 1000}); // any instant
    auto& leader = all.leader();
    if (change % 2 == 0)
      leader.kill();
    else
      CHECK(leader.stop() == 0);
    all.start(schedules);
  }
  all.log->await("fired s0.", boundaries);
  CHECK(all.leader().stop() == 0);
  store_view view{all.file()};
  CHECK(view.boundary_faults(1s) == "");
  CHECK(view.number("SELECT count(*) FROM alkstore_jobs")
        >= static_cast<int64_t>(boundaries) * count);
  // No schedule lost its first ones: those are on its grid after the start.
  for (auto& [name, times] : view.boundaries()) {
    CHECK(*times.begin() > begin + 1s - 1ms);
    CHECK(*times.begin() <= started + 1s);
  }
}

} // namespace

TEST_CASE(
  "S6, H09: of four nodes on one file one leads, and each boundary fires "
  "once") {
  nodes all;
  for (int i = 0; i < 4; ++i)
    all.start({"beat"});
  all.log->await("fired beat", 3);
  CHECK(all.log->count("leading") == 1);
  CHECK(all.log->count("leadership lost") == 0);
  store_view view{all.file()};
  CHECK(view.boundary_faults(1s) == "");
  CHECK(view
          .text("SELECT owner FROM alkstore_locks "
                "WHERE name = '__alkstore_scheduler'")
          .find(":" + std::to_string(all.leader().pid()) + ":")
        != std::string::npos);
}

TEST_CASE(
  "S6: two nodes, whose leader is killed and stopped in turn, fire every "
  "boundary once") {
  run_many(50, rounds(2, 6), static_cast<size_t>(rounds(5, 21)), 1);
}

TEST_CASE("S6: three nodes, whose leader is killed and stopped in turn, fire "
          "every boundary once") {
  run_many(50, rounds(2, 6), static_cast<size_t>(rounds(5, 21)), 2);
}

TEST_CASE("S8, H27: after a clean stop a standby leads at once, and stays the "
          "leader") {
  nodes all;
  // So long that no handover here is its end.
  constexpr millis long_ttl = 20s;
  auto start = [&] { return &all.start({"beat"}, "@every 1s", long_ttl); };
  auto leader = start();
  leader->await("leading");
  std::vector<millis> took;
  for (int i = 0; i < 5; ++i) {
    auto standby = start();
    // It has looked at the lease by now: it fires no boundary.
    leader->await("fired beat", leader->count("fired beat") + 1);
    auto begin = steady_now();
    CHECK(leader->stop() == 0);
    took.push_back(standby->await("leading").at - begin);
    CHECK(leader->count("stepped down") == 1);
    leader = standby;
  }
  std::sort(took.begin(), took.end());
  CHECK(took[2] < 250ms); // the median: the machine may be busy
  CHECK(took[4] < 5s);
  CHECK(all.log->count("leadership lost") == 0);
  CHECK(store_view{all.file()}.boundary_faults(1s) == "");
}

TEST_CASE("H27: a node that stood by for several lease times leads for several "
          "lease times once it may") {
  nodes all;
  auto& first = all.start({"beat"});
  first.await("leading");
  auto& second = all.start({"beat"});
  CHECK(second.stays_without("leading", ttl * rounds(2, 10)));
  CHECK(first.stop() == 0);
  second.await("leading");
  CHECK(second.stays_without("leadership lost", ttl * 2));
  CHECK(all.log->count("leading") == 2);
}

TEST_CASE(
  "H10, H26: when the leader of four nodes is killed exactly one other "
  "leads after the lease time, and fires what was due in between once") {
  nodes all;
  for (int i = 0; i < 4; ++i)
    all.start({"beat"});
  all.log->await("fired beat");
  auto& leader = all.leader();
  auto killed = steady_now();
  leader.kill();
  auto next = all.log->await("leading", 2);
  // Its last renewal was at most a third of the lease time ago.
  CHECK(next.at - killed >= ttl / 2 - 100ms);
  CHECK(next.at - killed < ttl + 2s);
  all.log->await("fired beat", 4);
  CHECK(all.log->count("leading") == 2);
  CHECK(store_view{all.file()}.boundary_faults(1s) == "");
}

TEST_CASE("H12: the leader fires also the schedules that only other nodes have "
          "configured, and those of nodes that are gone") {
  nodes all;
  auto& a = all.start({"x"});
  a.await("leading");
  auto& b = all.start({"y"});
  all.log->await("fired x", 2);
  all.log->await("fired y", 2);
  CHECK(b.count("fired") == 0);
  a.kill();
  b.await("fired x", 2);
  b.await("fired y", 2);
  CHECK(store_view{all.file()}.boundary_faults(1s) == "");
}

TEST_CASE("H03: a leader that stood still for longer than its lease time fires "
          "nothing more, and says that it lost the leadership") {
  nodes all;
  constexpr millis lease = 3s; // the other keeps it on a busy machine, too
  auto& sleeper = all.start({"beat"}, "@every 1s", lease);
  sleeper.await("fired beat");
  auto& other = all.start({"beat"}, "@every 1s", lease);
  freeze_outside_a_write(sleeper, all.file());
  auto fired = sleeper.count("fired");
  other.await("fired beat", 2);
  sleeper.signal(SIGCONT);
  sleeper.await("leadership lost");
  other.await("fired beat", other.count("fired beat") + 2);
  CHECK(sleeper.count("fired") == fired);
  CHECK(sleeper.count("leading") == 1);
  CHECK(sleeper.stop() == 0);
  CHECK(store_view{all.file()}.boundary_faults(1s) == "");
}

TEST_CASE("H23: another process's short write transaction leaves the leader "
          "alone, a long one costs it the leadership in time") {
  nodes all;
  constexpr millis lease = 3s;
  auto& first = all.start({"beat"}, "@every 1s", lease);
  first.await("fired beat");
  auto& second = all.start({"beat"}, "@every 1s", lease);
  {
    foreign_writer writer{all.file()};
    CHECK(all.log->stays_without("leadership lost", lease / 4));
  }
  first.await("fired beat", first.count("fired beat") + 1);
  CHECK(all.log->count("leadership lost") == 0);
  {
    foreign_writer writer{all.file()};
    auto begin = steady_now();
    auto lost = first.await("leadership lost");
    CHECK(lost.at - begin <= lease); // two thirds of it, on a quiet machine
    auto fired = all.log->count("fired");
    CHECK(all.log->stays_without("fired", lease / 4));
    CHECK(all.log->count("fired") == fired);
  }
  auto over = steady_now();
  auto next = all.log->await("leading", 2);
  CHECK(next.at - over < 3s);
  all.log->await("fired beat", all.log->count("fired beat") + 1);
  CHECK(all.log->count("leading") == 2);
  CHECK(second.count("store fault") == 0);
  CHECK(store_view{all.file()}.boundary_faults(1s) == "");
}

TEST_CASE("H55: eight nodes that start at once on no file at all share one") {
  for (int round = 0; round < rounds(3, 50); ++round) {
    temp_dir dir;
    auto log = std::make_shared<line_log>();
    node_options options;
    options.log = log;
    std::vector<std::unique_ptr<node_process>> all;
    for (int i = 0; i < 8; ++i)
      all.push_back(std::make_unique<node_process>(
        dir.path(),
        "database = \"a.db\"\nschedules = [{ name = \"s" + std::to_string(i)
          + "\", spec = \"@every 1h\", queue = \"q\" }]",
        options));
    for (auto& x : all)
      x->await("started");
    {
      store_view view{dir.path("a.db")};
      CHECK(view.number("SELECT count(*) FROM alkstore_schedules") == 8);
      CHECK(view.number("SELECT count(*) FROM alkstore_meta "
                        "WHERE key = 'schema_version'")
            == 1);
      CHECK(view.text("PRAGMA journal_mode") == "wal");
    }
    for (auto& x : all)
      x->signal(SIGTERM);
    for (auto& x : all)
      CHECK(x->exit_status() == 0);
    CHECK(log->count("locked") == 0);
    CHECK(log->count("already exists") == 0);
  }
}

// -- clocks that jump ---------------------------------------------------------

namespace {

// Nodes whose wall clock is off by what the test says.
class jumping_nodes : public nodes {
public:
  jumping_nodes() : nodes(ALKSTORE_NODE_TEST_CLOCK) {
    write_file(dir.path("clock"), std::string(sizeof(int64_t), '\0'));
  }

  void set(millis offset) {
    int64_t bytes = offset.count();
    std::fstream file{dir.path("clock"),
                      std::ios::binary | std::ios::in | std::ios::out};
    file.write(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  }
};

} // namespace

TEST_CASE(
  "H01: after a step back of the clock no boundary fires again, and the "
  "log says that what is due waits") {
  jumping_nodes all;
  auto& node = all.start({"beat"});
  node.await("fired beat", 2);
  all.set(-1h);
  node.await("clock jumped");
  auto fired = node.count("fired");
  CHECK(node.stays_without("fired", 2s));
  CHECK(node.count("clock jumped") == 1);
  CHECK(node.count("leading") == 1);
  CHECK(node.count("leadership lost") == 0);
  all.set(0h);
  node.await("fired beat", fired + 2);
  CHECK(store_view{all.file()}.boundary_faults(1s) == "");
}

TEST_CASE("H02: a step forward by a day and back again fires the 64 oldest "
          "boundaries once") {
  jumping_nodes all;
  auto& node = all.start({"beat"}, "@every 60s");
  node.await("leading");
  store_view view{all.file()};
  all.set(24h);
  node.await("skipped beat");
  CHECK(node.count("clock jumped") == 1);
  CHECK(node.count("fired beat") == 64);
  auto next = view.number("SELECT next_fire_at FROM alkstore_schedules");
  all.set(0h);
  node.await("clock jumped", 2);
  CHECK(node.stays_without("fired", 1s));
  CHECK(view.number("SELECT count(*) FROM alkstore_jobs") == 64);
  CHECK(view.number("SELECT count(DISTINCT fire_at) FROM alkstore_jobs") == 64);
  CHECK(view.number("SELECT next_fire_at FROM alkstore_schedules") == next);
  CHECK(timestamp{millis{next}} > wall_now() + 23h);
}

TEST_CASE("H05: a lease that a step back of the clock prolonged is taken over "
          "after its lease time all the same") {
  jumping_nodes all;
  auto& first = all.start({"beat"});
  first.await("leading");
  auto& second = all.start({"beat"});
  first.await("fired beat");
  first.kill();
  auto killed = steady_now();
  all.set(-1h);
  auto next = second.await("leading");
  CHECK(next.at - killed < ttl * 2 + 2s);
  store_view view{all.file()};
  auto expires = view.number("SELECT expires_at FROM alkstore_locks");
  CHECK(timestamp{millis{expires}} <= wall_now() - 1h + ttl);
  CHECK(timestamp{millis{expires}} > wall_now() - 1h - ttl);
}
