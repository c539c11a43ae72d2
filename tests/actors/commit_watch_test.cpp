// Other connections' commits, seen without polling.
#include "actors/commit_watch.hpp"

#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"
#include "tests/support/unprivileged.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

using namespace alkstore;
using namespace alkstore::test;

namespace {

/// Another process that enqueues a job for each byte it reads.
class enqueuer {
public:
  explicit enqueuer(const std::string& path) {
    REQUIRE(::pipe(pipe_) == 0);
    child_ = ::fork();
    if (child_ != 0)
      return;
    ::close(pipe_[1]);
    char byte = 0;
    auto status = 0;
    try {
      std::optional<connection> db; // opened with the first byte
      while (::read(pipe_[0], &byte, 1) == 1) {
        if (!db)
          db.emplace(path, open_options{.sync = durability::normal});
        transaction tx{*db};
        jobs::enqueue(tx, queue_name::plain("q"), "x");
        tx.commit();
      }
    } catch (...) {
      status = 1;
    }
    ::_exit(status);
  }

  ~enqueuer() {
    ::close(pipe_[1]);
    ::close(pipe_[0]);
    int status = -1;
    ::waitpid(child_, &status, 0);
    CHECK(status == 0);
  }

  void one() { REQUIRE(::write(pipe_[1], "x", 1) == 1); }

private:
  int pipe_[2];
  pid_t child_;
};

} // namespace

TEST_CASE("H43: another process's job wakes a standing claim, 500 times at "
          "random moments around an empty look") {
  temp_dir place;
  auto path = place.path("shared.db");
  enqueuer other{path}; // forked before there is any thread
  system_fixture t;
  auto options = t.store_options();
  options.path = path;
  auto writer = spawn_writer(t.sys, options);
  t.ask<completed>(writer,
                   grant{t.playing<consumer_actor>(), "q", false, "me", 5, 5});
  std::minstd_rand random{1};
  std::uniform_int_distribution<int> pause{0, 300};
  millis worst{};
  for (int round = 0; round < 500; ++round) {
    auto start = std::chrono::steady_clock::now();
    other.one();
    auto got = t.expect<claimed>().jobs;
    worst = std::max(worst, std::chrono::duration_cast<millis>(
                              std::chrono::steady_clock::now() - start));
    REQUIRE(got.size() == 1);
    // The ack's own look comes at a random distance to the next job.
    ::usleep(static_cast<useconds_t>(pause(random)));
    port::send(
      t.self, writer,
      settle{t.playing<consumer_actor>(),
             {{got[0].claim, settlement::action::ack, {}, {}, {}, {}}}});
    ::usleep(static_cast<useconds_t>(pause(random)));
  }
  CHECK(worst < 1s);
  caf::anon_send_exit(writer, caf::exit_reason::kill);
}

TEST_CASE("A neighbour's schedule reaches the leader, also while a third "
          "connection holds the write lock") {
  store_fixture t;
  neighbour other{t.path()}, third{t.path()};
  port::send(t.self, t.writer, subscribe{t.playing<leader_actor>()});
  other.write([](transaction& tx) {
    return schedules::add(tx, {"a", "@every 1h", "q", "x", {}});
  });
  t.expect<store_changed>();
  while (!t.hears_nothing<store_changed>(100ms)) {
  }
  other.write([](transaction& tx) {
    return schedules::add(tx, {"b", "@every 1h", "q", "x", {}});
  });
  third.hold();
  t.expect<store_changed>();
}

TEST_CASE("The writer's own commits wake nobody as another's") {
  store_fixture t;
  port::send(t.self, t.writer, subscribe{t.playing<leader_actor>()});
  t.enqueue_one();
  while (!t.hears_nothing<store_changed>(100ms)) {
  }
  for (int i = 0; i < 50; ++i)
    t.enqueue_one();
  CHECK(t.hears_nothing<store_changed>(200ms));
  t.ask<schedule>(t.writer, add_schedule{{"a", "@every 1h", "q", "x", {}}});
  t.expect<store_changed>(); // this one concerns the leader
}

TEST_CASE("H61: a store whose file was moved, deleted or replaced ends the "
          "writer with moved") {
  namespace fs = std::filesystem;
  store_fixture t;
  t.enqueue_one();
  auto what = GENERATE(0, 1, 2, 3);
  if (what == 0)
    fs::rename(t.path(), t.path() + ".old");
  else if (what == 1)
    fs::remove(t.path());
  else if (what == 2)
    fs::remove(t.path() + "-wal");
  else
    fs::rename(t.dir.path(), t.dir.path() + "-elsewhere");
  CHECK(code_of(t.wait_end(t.writer)) == errc::moved);
  if (what == 3)
    fs::rename(t.dir.path() + "-elsewhere", t.dir.path());
}

TEST_CASE(
  "A writer's thread ends with it, at once, and its file may lie in the "
  "working directory") {
  system_fixture t;
  auto was = std::filesystem::current_path();
  std::filesystem::current_path(t.dir.path());
  auto options = t.store_options();
  options.path = "store.db";
  auto before = t.sys.detached_actors(); // CAF's own
  auto begin = clock::system().steady_now();
  for (int i = 0; i < 10; ++i) {
    auto writer = spawn_writer(t.sys, options);
    t.ask<int64_t>(writer, enqueue{"q", "x", {}});
    caf::anon_send_exit(writer, caf::exit_reason::kill);
    t.wait_gone(writer);
  }
  while (t.sys.detached_actors() > before && since(begin) < patience)
    std::this_thread::yield();
  CHECK(since(begin) < 2s);
  CHECK(t.events.count("polling") == 0);
  std::filesystem::current_path(was);
}

TEST_CASE("Without inotify the writer says so once and polls") {
  namespace fs = std::filesystem;
  system_fixture t;
  // A directory that cannot be listed cannot be watched.
  auto place = t.dir.path("unlisted");
  fs::create_directory(place);
  fs::permissions(t.dir.path(), fs::perms{0755});
  fs::permissions(place, fs::perms{0333});
  {
    unprivileged now;
    auto options = t.store_options();
    options.path = place + "/store.db";
    auto writer = spawn_writer(t.sys, options);
    CHECK(t.events.wait_for("polling").text.find("50 ms") != std::string::npos);
    t.ask<completed>(
      writer, grant{t.playing<consumer_actor>(), "q", false, "me", 5, 5});
    neighbour other{options.path};
    for (int i = 0; i < 3; ++i) {
      other.enqueue("q");
      CHECK(t.expect<claimed>().jobs.size() == 1);
    }
    CHECK(t.events.count("polling") == 1);
    caf::anon_send_exit(writer, caf::exit_reason::kill);
    t.wait_gone(writer);
  }
  fs::permissions(place, fs::perms{0777}); // so that it can be removed
}

TEST_CASE("A store behind a symbolic link hears of others' commits, too") {
  system_fixture t;
  std::filesystem::create_directory(t.dir.path("real"));
  auto options = t.store_options();
  neighbour other{t.dir.path("real/store.db")};
  std::filesystem::create_symlink("real/store.db", options.path);
  auto writer = spawn_writer(t.sys, options);
  t.ask<completed>(writer,
                   grant{t.playing<consumer_actor>(), "q", false, "me", 5, 5});
  other.enqueue("q");
  CHECK(t.expect<claimed>().jobs.size() == 1);
  CHECK(t.events.count("polling") == 0);
  caf::anon_send_exit(writer, caf::exit_reason::kill);
}

TEST_CASE("A directory that every user can write to is warned of") {
  system_fixture t;
  std::filesystem::permissions(t.dir.path(), std::filesystem::perms{0777});
  auto writer = spawn_writer(t.sys, t.store_options());
  CHECK(t.events.wait_for("public directory").text.find(t.path()) == 0);
  caf::anon_send_exit(writer, caf::exit_reason::kill);
}

TEST_CASE("A write is told of when its commit may be over, a move at once") {
  using std::chrono::microseconds;
  temp_dir dir;
  event_log events;
  auto file = dir.path("store.db");
  auto write = [](const std::string& path) {
    std::ofstream{path, std::ios::app} << "x";
  };
  write(file);
  commit_watch watch{file, events.sink()};
  auto now = commit_watch::time_point{} + 1h;
  CHECK(watch.descriptor() >= 0);
  CHECK_FALSE(watch.patience(now));
  write(dir.path("other.db"));
  CHECK_FALSE(watch.look(true, now).touched);
  CHECK_FALSE(watch.patience(now));

  write(file);
  CHECK_FALSE(watch.look(true, now).touched);
  CHECK(watch.descriptor() < 0); // only time is waited for
  CHECK(watch.patience(now) == microseconds{50});
  CHECK_FALSE(watch.look(false, now + microseconds{49}).touched);
  CHECK(watch.look(false, now + microseconds{50}).touched);
  CHECK_FALSE(watch.look(false, now + 1s).touched);

  // Not sooner than 1 ms after the last look, or after own work.
  now += microseconds{50};
  write(file + "-wal");
  auto made = watch.look(true, now + microseconds{10});
  CHECK(made.moved);
  CHECK_FALSE(made.touched);
  CHECK(watch.patience(now) == microseconds{1000});
  CHECK(watch.look(false, now + 1ms).touched);
  watch.worked(now + 5ms);
  write(file + "-wal");
  watch.look(true, now + 5ms);
  CHECK(watch.patience(now + 5ms) == microseconds{1000});

  // A transaction of one's own has looked.
  watch.has_looked();
  CHECK_FALSE(watch.patience(now));
  CHECK_FALSE(watch.look(false, now + 1h).touched);

  std::filesystem::remove(file);
  auto gone = watch.look(true, now + 2h);
  CHECK(gone.moved);
  CHECK_FALSE(gone.touched);
  CHECK(events.count("polling") == 0);
}
