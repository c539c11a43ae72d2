// How the node ends: in good order, cut short, and when its file is gone.

#include "tests/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/receiver.hpp"
#include "tests/system/store_view.hpp"

#include <csignal>
#include <filesystem>

using namespace alkstore;
using namespace alkstore::test;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

namespace {

// An endpoint, and a node that delivers to it what is put into `box`.
struct delivering {
  explicit delivering(answer every, int concurrency,
                      const std::string& grace = "10s")
    : endpoint([=](const received&) { return every; }),
      block("database = \"a.db\"\nstop-grace = \"" + grace
            + "\"\noutboxes = [{ name = \"box\", concurrency = "
            + std::to_string(concurrency) + ", url = \"" + endpoint.url()
            + "\" }]") {}

  std::string file() const { return dir.path("a.db"); }

  void put(int count) {
    put_messages(file(), "box", std::vector<std::string>(count, "x"));
  }

  temp_dir dir;
  receiver endpoint;
  std::string block;
};

constexpr auto untouched = "SELECT count(*) FROM alkstore_jobs "
                           "WHERE attempts = 0 AND claimed = 0";
constexpr auto claimed = "SELECT count(*) FROM alkstore_jobs "
                         "WHERE attempts = 1 AND claimed = 1";
constexpr auto all_jobs = "SELECT count(*) FROM alkstore_jobs";

} // namespace

TEST_CASE("S26, H66: a stop lets the delivery in flight finish, and leaves the "
          "others untouched for the next start") {
  delivering x{answer::later(200), 1};
  x.put(101);
  node_process node{x.dir.path(), x.block};
  x.endpoint.await(1);
  node.signal(SIGTERM);
  node.await("stopping");
  CHECK(node.stays_without("stopped", 300ms));
  x.endpoint.release();
  CHECK(node.exit_status() == 0);
  CHECK(node.count("delivered box") == 1);
  CHECK(node.count("stopped") == 1);
  CHECK(x.endpoint.count() == 1);
  {
    store_view view{x.file()};
    CHECK(view.number(untouched) == 100);
    CHECK(view.number(all_jobs) == 100);
  }
  node_process next{x.dir.path(), x.block};
  next.await("delivered box", 100);
  CHECK(next.stop() == 0);
  CHECK(x.endpoint.count() == 101);
}

TEST_CASE("S26: a stop during many deliveries finishes those in flight and "
          "claims no other") {
  delivering x{answer::later(200), 8};
  x.put(20);
  node_process node{x.dir.path(), x.block};
  x.endpoint.await(8);
  node.signal(SIGTERM);
  node.await("stopping"); // said before the deliveries hear of it
  CHECK(node.stays_without("stopped", 300ms));
  x.endpoint.release();
  CHECK(node.exit_status() == 0);
  CHECK(x.endpoint.count() == 8);
  CHECK_FALSE(std::filesystem::exists(x.file() + "-wal"));
  CHECK(store_view{x.file()}.number(untouched) == 12);
}

TEST_CASE(
  "H66: a second signal cuts what is in flight and leaves its claims to "
  "their deadlines") {
  delivering x{answer::never(), 2};
  x.put(10);
  node_process node{x.dir.path(), x.block};
  x.endpoint.await(2);
  node.signal(SIGTERM);
  node.await("stopping");
  CHECK(node.stays_without("stopped", 300ms));
  auto begin = steady_now();
  node.signal(SIGTERM);
  CHECK(node.exit_status() == 0);
  CHECK(steady_now() - begin < 2s);
  CHECK(node.count("cutting") == 1);
  store_view view{x.file()};
  CHECK(view.number(claimed) == 2);
  CHECK(view.number(untouched) == 8);
}

TEST_CASE("H66: the end of the grace period cuts what is in flight") {
  delivering x{answer::never(), 2, "300ms"};
  x.put(10);
  node_process node{x.dir.path(), x.block};
  x.endpoint.await(2);
  auto begin = steady_now();
  CHECK(node.stop() == 0);
  CHECK(steady_now() - begin >= 300ms);
  CHECK(steady_now() - begin < 3s);
  CHECK(store_view{x.file()}.number(claimed) == 2);
}

TEST_CASE("H70: timers that are due in an hour do not hold up a stop") {
  delivering x{answer::status(503, "Retry-After: 3600\r\n"), 8};
  x.block += "\nschedules = [{ name = \"hourly\", spec = \"@every 1h\", "
             "queue = \"q\" }]\nqueues = [{ name = \"q\", log = true }]";
  x.put(1);
  job_options later;
  later.delay = 1h;
  put_message(x.file(), "box", "later", later);
  node_process node{x.dir.path(), x.block};
  node.await("failed box");
  node.await("leading");
  auto begin = steady_now();
  CHECK(node.stop() == 0);
  CHECK(steady_now() - begin < 2s);
}

TEST_CASE("H61: a store that was moved, deleted, replaced or bereft of its WAL "
          "ends the node with an error within seconds") {
  delivering x{answer::status(200), 8};
  x.block += "\nlease-ttl = \"1s\""; // nobody releases the lease
  auto file = x.file();
  auto older = x.dir.path("older.db");
  put_message(older, "box", "of the older copy");
  node_process node{x.dir.path(), x.block};
  node.await("leading");
  x.put(1);
  node.await("delivered box");
  auto begin = steady_now();
  SECTION("moved") {
    fs::rename(file, x.dir.path("b.db"));
  }
  SECTION("deleted") {
    fs::remove(file);
  }
  SECTION("replaced") {
    fs::rename(older, file);
    fs::remove(file + "-wal");
    fs::remove(file + "-shm");
  }
  SECTION("without its WAL") {
    fs::remove(file + "-wal");
  }
  SECTION("with its directory moved") {
    auto elsewhere = x.dir.path() + "-moved";
    fs::rename(x.dir.path(), elsewhere);
    node.await("ended");
    fs::rename(elsewhere, x.dir.path());
  }
  CHECK(node.exit_status() == 74);
  CHECK(steady_now() - begin < 5s);
  CHECK(node.count("no longer names the file") > 0);
  node_process next{x.dir.path(), x.block};
  next.await("leading");
  if (!fs::exists(older))
    next.await("delivered box");
  CHECK(next.stop() == 0);
  CHECK(store_view{file}.text("PRAGMA integrity_check") == "ok");
}
