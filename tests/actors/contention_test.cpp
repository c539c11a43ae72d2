// Neighbours that hold the file: its lock, a snapshot, or copies of its
// descriptors.
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"
#include "tests/support/rounds.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

using namespace alkstore;
using namespace alkstore::test;

namespace {

// 100 enqueues while a neighbour holds the write lock for `hold`. How many were
// answered with an id; the others have to be busy, and nobody waits for longer
// than the busy-timeout.
size_t accepted_while_locked(store_fixture& t, millis hold) {
  neighbour other{t.path()};
  other.hold();
  std::vector<enqueue> messages(100, enqueue{"q", "x", {}});
  auto start = clock::system().steady_now();
  std::thread holder;
  auto answers = t.ask_all<int64_t>(t.writer, messages, [&] {
    holder = std::thread{[&] {
      std::this_thread::sleep_for(hold); // that long, whatever happens
      other.let_go();
    }};
  });
  auto took = clock::system().steady_now() - start;
  holder.join();
  CHECK(took < t.options.busy_timeout + 2s); // on a machine that is busy, too
  size_t accepted = 0;
  for (auto& x : answers) {
    accepted += x.value.has_value();
    CHECK((x.value || x.code == errc::busy));
  }
  t.ask<bool>(t.writer, cancel_job{0}); // behind all of them
  CHECK(other.jobs() == static_cast<int64_t>(accepted));
  return accepted;
}

// Queues and works off `count` messages of 4 KiB. The WAL's largest size.
int64_t churn(store_fixture& t, int count) {
  constexpr int batch = 250;
  int64_t largest = 0;
  for (int i = 0; i < count; i += batch) {
    t.ask<std::vector<int64_t>>(t.writer,
                                enqueue_many{std::vector<enqueue>(
                                  batch, {"q", std::string(4096, 'x'), {}})});
    for (auto& x : t.settle_all(t.claim(batch)))
      REQUIRE(x == errc{});
    auto size = std::filesystem::file_size(t.path() + "-wal");
    largest = std::max(largest, static_cast<int64_t>(size));
  }
  return largest;
}

// What /proc/locks has of this process on that file.
int kernel_locks(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  auto inode = ":" + std::to_string(info.st_ino);
  std::ifstream in{"/proc/locks"};
  int found = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words{line};
    std::string number, kind, advisory, access, pid, file;
    words >> number >> kind >> advisory >> access >> pid >> file;
    found += kind == "POSIX" && pid == std::to_string(::getpid())
             && file.ends_with(inode);
  }
  return found;
}

// Another process that opens, reads and closes the file again and again.
class passer_by {
public:
  explicit passer_by(const std::string& path) : child_(::fork()) {
    if (child_ != 0)
      return;
    ::alarm(50);
    for (;;)
      try {
        connection db{path, {.read_only = true}};
        transaction tx{db, transaction::access::read};
        jobs::stats(tx);
      } catch (const failure&) {
        ::usleep(1000); // there is no file yet
      }
  }
  passer_by(const passer_by&) = delete;
  passer_by& operator=(const passer_by&) = delete;
  ~passer_by() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

private:
  pid_t child_;
};

} // namespace

TEST_CASE("H51: calls that meet another process's lock wait for it, or are "
          "busy after busy-timeout and left nothing") {
  auto busy_timeout = rounds(500, 5000);
  store_fixture t{
    [&](writer_options& o) { o.busy_timeout = millis{busy_timeout}; }};
  SECTION("a lock that is held for less than that") {
    CHECK(accepted_while_locked(t, millis{busy_timeout * 3 / 5}) == 100);
  }
  SECTION("a lock that is held for longer") {
    CHECK(accepted_while_locked(t, millis{busy_timeout * 8 / 5}) < 100);
  }
}

TEST_CASE("H52: a WAL that a reader held back is small again soon after the "
          "reader's end, and was spoken of once") {
  constexpr int64_t limit = 1024 * 1024;
  store_fixture t{[](writer_options& o) { o.wal_limit = limit; }};
  {
    neighbour reader{t.path()};
    auto tx = reader.snapshot();
    CHECK(churn(t, rounds(1000, 20'000)) > limit);
    CHECK(t.events.wait_for("large WAL").text.find(t.path() + "-wal has ")
          == 0);
  }
  auto start = clock::system().steady_now();
  while (std::filesystem::file_size(t.path() + "-wal") > limit) {
    REQUIRE(clock::system().steady_now() - start < 10s);
    t.let_pass(20ms);
  }
  CHECK(t.events.count("large WAL") == 1);
}

TEST_CASE("H52: without a reader that stays the WAL keeps its size") {
  store_fixture t;
  // 1,000 pages are written back, and one batch may come on top.
  CHECK(churn(t, rounds(2000, 20'000)) < 10 * 1024 * 1024);
}

TEST_CASE("H57: whatever the store does beside its writes, the kernel's lock "
          "on its file stays") {
  temp_dir place;
  auto path = place.path("shared.db");
  passer_by other{path}; // forked before there is any thread
  system_fixture t;
  auto options = t.store_options();
  options.path = path;
  auto writer = spawn_writer(t.sys, options);
  auto reader = spawn_reader(t.sys, options);
  t.ask<int64_t>(writer, enqueue{"q", "x", {}});
  struct stat before{}, after{};
  REQUIRE(::stat((path + "-wal").c_str(), &before) == 0);
  REQUIRE(kernel_locks(path) > 0);
  for (int i = 0; i < 100; ++i) {
    port::send(t.self, writer, file_moved{}); // it looks whether it was moved
    t.ask<std::vector<jobs::queue_stats>>(reader, get_stats{});
    connection another{path, {.read_only = i % 2 == 0}};
    CHECK(another.still_there());
    t.ask<int64_t>(writer, enqueue{"q", "x", {}});
  }
  CHECK(kernel_locks(path) > 0);
  REQUIRE(::stat((path + "-wal").c_str(), &after) == 0);
  CHECK(after.st_ino == before.st_ino);
  CHECK(neighbour{path}.jobs() == 101);
  // This is how the lock would be lost.
  ::close(::open(path.c_str(), O_RDONLY));
  CHECK(kernel_locks(path) == 0);
  caf::anon_send_exit(writer, caf::exit_reason::kill);
  caf::anon_send_exit(reader, caf::exit_reason::kill);
}

TEST_CASE("H56: the children of a leader's process end without harm to it") {
  system_fixture t;
  runtime_options options;
  options.store = t.store_options();
  options.lease = {3s, 1s};
  auto node = start(t.sys, std::move(options));
  t.events.wait_for("leading");
  auto store = t.ask<store_handles>(node, get_store{});
  auto forks = rounds(5, 100);
  for (int i = 0; i < forks; ++i) {
    auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::alarm(20);
      ::close(STDOUT_FILENO); // what Catch2 has in its buffers is the parent's
#ifdef __SANITIZE_ADDRESS__
      ::_exit(0); // the leak check would miss the threads' stacks
#else
      std::exit(0); // with all exit handlers
#endif
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    for (int j = 0; j < 10; ++j)
      t.ask<int64_t>(store.store, enqueue{"q", "x", {}});
  }
  CHECK(t.events.count("leadership lost") == 0);
  t.ask<completed>(node, stop{});
  neighbour later{t.path()};
  CHECK(later.jobs() == forks * 10);
  CHECK(later.number("SELECT integrity_check = 'ok' FROM "
                     "pragma_integrity_check")
        == 1);
}
