#include "app/command_runner.hpp"

#include "app/unique_fd.hpp"
#include "tests/app/environment_variable.hpp"
#include "tests/catch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>

using namespace alkstore;
using namespace alkstore::test;
using namespace std::chrono_literals;
using end = command_outcome::end;

namespace {

constexpr auto plenty = 20s;

command_request shell(const std::string& script, millis timeout = plenty) {
  return {{"sh", "-c", script}, {}, {}, timeout};
}

std::future<command_outcome> run(command_runner& runner,
                                 command_request request) {
  auto promise = std::make_shared<std::promise<command_outcome>>();
  auto result = promise->get_future();
  // A second call would throw, and end the test program.
  runner.run(std::move(request), [promise](command_outcome outcome) {
    promise->set_value(std::move(outcome));
  });
  return result;
}

command_outcome run(command_request request) {
  command_runner runner;
  return run(runner, std::move(request)).get();
}

class scratch_folder {
public:
  scratch_folder() {
    char name[] = "/tmp/alkstore-command-XXXXXX";
    path_ = ::mkdtemp(name);
  }

  ~scratch_folder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

private:
  std::string path_;
};

// A named pipe whose far end is held by every process that a script starts with
// it: its end is the end of them all.
class witness {
public:
  explicit witness(const scratch_folder& folder) : path_(folder / "witness") {
    ::mkfifo(path_.c_str(), 0600);
    read_ = unique_fd{::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    ::fcntl(read_.get(), F_SETFL, 0);
    // Until the script has opened it, its end must not show.
    write_ = unique_fd{::open(path_.c_str(), O_WRONLY | O_CLOEXEC)};
  }

  // To be put before a script.
  std::string prelude() const { return "exec 9>" + path_ + "; echo >&9; "; }

  void await_start() {
    char line = 0;
    REQUIRE(::read(read_.get(), &line, 1) == 1);
    write_.reset();
  }

  void await_end() {
    char more = 0;
    REQUIRE(::read(read_.get(), &more, 1) == 0);
  }

private:
  std::string path_;
  unique_fd read_;
  unique_fd write_;
};

size_t open_descriptors() {
  std::filesystem::directory_iterator own{"/proc/self/fd"};
  return static_cast<size_t>(std::distance(begin(own), {}));
}

bool has_children() {
  return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD;
}

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

} // namespace

TEST_CASE("exit status 0 is success and has no error") {
  auto outcome = run(shell("echo dropped; echo ignored >&2"));
  CHECK(outcome.how == end::exited);
  CHECK(outcome.code == 0);
  CHECK(outcome.error.empty());
}

TEST_CASE("another exit status comes with what was said on standard error") {
  auto outcome = run(shell("echo first >&2; echo 'the reason' >&2; exit 3"));
  CHECK(outcome.how == end::exited);
  CHECK(outcome.code == 3);
  CHECK(outcome.error == "exit status 3: first\nthe reason");
  CHECK(run(shell("exit 255")).error == "exit status 255");
}

TEST_CASE("of standard error the last KiB is kept") {
  auto outcome = run(
    shell("head -c 5000000 /dev/zero | tr '\\0' x >&2; echo last >&2; "
          "exit 1"));
  CHECK(outcome.error
        == "exit status 1: " + std::string(1024 - 5, 'x') + "last");
}

TEST_CASE("a program that a signal ended is not a success") {
  auto outcome = run(shell("kill -KILL $$"));
  CHECK(outcome.how == end::killed);
  CHECK(outcome.code == SIGKILL);
  CHECK(outcome.error == "killed by signal 9");
}

TEST_CASE("arguments reach the program as they are, without a shell") {
  scratch_folder folder;
  auto out = folder / "out";
  command_request request{{"sh", "-c", "printf '%s|' \"$@\" > \"$OUT\"", "-",
                           "$HOME", "a b", "", "*", "; exit 1"},
                          {{"OUT", out}},
                          {},
                          plenty};
  CHECK(run(request).code == 0);
  CHECK(contents(out) == "$HOME|a b||*|; exit 1|");
}

TEST_CASE("the input arrives byte for byte, whatever its size") {
  scratch_folder folder;
  auto out = folder / "out";
  for (size_t size : {0, 1, 65536, 65537, 4'000'000}) {
    std::string input(size, '\0');
    for (size_t i = 0; i < size; ++i)
      input[i] = static_cast<char>(i * 31 + i / 256);
    auto request = shell("cat > \"$OUT\"");
    request.environment = {{"OUT", out}};
    request.input = input;
    CHECK(run(request).code == 0);
    CHECK((contents(out) == input));
  }
}

TEST_CASE("a program need not read its input") {
  for (std::string script :
       {"exit 0", "exec <&-; exit 0", "head -c 1 >/dev/null",
        "exec <&-; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"}) {
    INFO(script);
    auto request = shell(script);
    request.input.assign(4'000'000, 'x');
    auto outcome = run(request);
    CHECK(outcome.how == end::exited);
    CHECK(outcome.code == 0);
  }
}

TEST_CASE("the caller's environment is set over the inherited one") {
  environment_variable queue{"ALKSTORE_QUEUE", "inherited"};
  environment_variable other{"ALKSTORE_OTHER", "kept"};
  auto request = shell("echo $ALKSTORE_JOB_ID,$ALKSTORE_STABLE_ID,"
                       "$ALKSTORE_ATTEMPT,$ALKSTORE_QUEUE,$ALKSTORE_OTHER >&2; "
                       "env | grep -c ALKSTORE_QUEUE= >&2; exit 1");
  request.environment = {{"ALKSTORE_JOB_ID", "7"},
                         {"ALKSTORE_STABLE_ID", "a1"},
                         {"ALKSTORE_ATTEMPT", "2"},
                         {"ALKSTORE_QUEUE", "mail"}};
  CHECK(run(request).error == "exit status 1: 7,a1,2,mail,kept\n1");
}

TEST_CASE("a program that cannot be started says why") {
  scratch_folder folder;
  auto script = folder / "script";
  auto try_file = [&](const std::string& text, mode_t mode) {
    std::ofstream{script} << text;
    ::chmod(script.c_str(), mode);
    auto outcome = run({{script, "secret"}, {}, {}, plenty});
    CHECK(outcome.how == end::not_started);
    CHECK(outcome.error.find("secret") == std::string::npos);
    return outcome.error;
  };
  CHECK(try_file("#!/bin/sh\n", 0600)
        == "cannot start " + script + ": Permission denied");
  // No shell is tried in its stead.
  CHECK(try_file("exit 0\n", 0700)
        == "cannot start " + script + ": Exec format error");
  CHECK(run({{"alkstore-no-such-program"}, {}, {}, plenty}).error
        == "cannot start alkstore-no-such-program: No such file or directory");
  CHECK(run({{}, {}, {}, plenty}).how == end::not_started);
  CHECK(run({{""}, {}, {}, plenty}).how == end::not_started);
}

TEST_CASE("a program starts with default signals, whatever this process has") {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  // Signal numbers above 31 are the C library's own and real-time ones.
  auto outcome = run(
    shell("masks=$(grep -E '^Sig(Blk|Ign)' /proc/self/status); set -- $masks; "
          "[ $(((0x$2 | 0x$4) & 0x7fffffff)) = 0 ]"));
  CHECK(outcome.code == 0);
  CHECK(outcome.error.empty());
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGHUP, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a program leads its own process group") {
  CHECK(run(shell("read -r _ _ _ _ group _ < /proc/$$/stat; "
                  "[ \"$group\" = $$ ]"))
          .code
        == 0);
}

TEST_CASE("a program inherits no descriptor but 0, 1 and 2") {
  unique_fd leaky{::open("/dev/null", O_RDONLY)};
  auto high = ::fcntl(leaky.get(), F_DUPFD, 200);
  // The fourth is ls's own, for reading the folder.
  CHECK(run(shell("[ \"$(ls /proc/self/fd | wc -l)\" = 4 ]")).code == 0);
  ::close(high);
}

TEST_CASE("a runner works in a process without standard descriptors") {
  pid_t child = ::fork();
  if (child == 0) {
    for (int fd : {0, 1, 2})
      ::close(fd);
    auto request = shell("cat >&2; exit 1");
    request.input = "through";
    ::_exit(run(request).error == "exit status 1: through" ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("an ignored SIGCHLD does not cost the exit status") {
  ::signal(SIGCHLD, SIG_IGN);
  CHECK(run(shell("exit 5")).code == 5);
  ::signal(SIGCHLD, SIG_DFL);
}

TEST_CASE("H77: a program that goes on for too long is ended with its group") {
  scratch_folder folder;
  witness processes{folder};
  std::string script;
  SECTION("it obeys SIGTERM") {
    script = "sleep 1000 & wait";
  }
  SECTION("it ignores SIGTERM") {
    script = "trap '' TERM; sleep 1000 & sleep 1000";
  }
  SECTION("it obeys, but what it started does not") {
    script = "(trap '' TERM; sleep 1000) & wait";
  }
  SECTION("it calls its end by SIGTERM a success") {
    script = "trap 'exit 0' TERM; sleep 1000 & wait";
  }
  SECTION("it does not read its input") {
    script = "sleep 1000";
  }
  command_runner runner;
  auto request = shell(processes.prelude() + "echo begun >&2; " + script,
                       500ms);
  request.input.assign(1'000'000, 'x');
  auto begin = std::chrono::steady_clock::now();
  auto running = run(runner, request);
  processes.await_start();
  auto outcome = running.get();
  auto took = std::chrono::steady_clock::now() - begin;
  CHECK(outcome.how == end::timed_out);
  CHECK(outcome.error == "timeout after 500 ms: begun");
  CHECK(took >= 400ms);
  CHECK(took < 1000ms);
  processes.await_end();
  CHECK_FALSE(has_children());
}

TEST_CASE("H77: SIGTERM leaves a program time to tidy up") {
  auto outcome = run(
    shell("trap 'echo tidy >&2; exit 1' TERM; sleep 1000 & wait", 500ms));
  CHECK(outcome.how == end::timed_out);
  CHECK(outcome.error == "timeout after 500 ms: tidy");
}

TEST_CASE("a program without time left is not started") {
  scratch_folder folder;
  auto out = folder / "out";
  for (auto timeout : {0ms, -5ms}) {
    auto outcome = run({{"touch", out}, {}, {}, timeout});
    CHECK(outcome.how == end::timed_out);
    CHECK(outcome.error == "timeout before the start");
  }
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("what a program leaves in the background does not hold its end") {
  scratch_folder folder;
  witness processes{folder};
  command_runner runner;
  auto running = run(
    runner, shell(processes.prelude() + "sleep 1000 & echo $! >&2; exit 1"));
  processes.await_start();
  auto outcome = running.get();
  CHECK(outcome.how == end::exited);
  auto left = std::stoi(outcome.error.substr(outcome.error.find(": ") + 2));
  CHECK(::kill(left, SIGKILL) == 0);
  processes.await_end();
}

TEST_CASE("many programs run at once and leave nothing behind") {
  scratch_folder folder;
  auto before = open_descriptors();
  {
    command_runner runner;
    std::vector<std::future<command_outcome>> outcomes;
    for (int i = 0; i < 40; ++i) {
      auto request = shell("cat >&2; exit " + std::to_string(i % 7));
      request.input = std::to_string(i);
      outcomes.push_back(run(runner, request));
      outcomes.push_back(run(runner, {{"no-such-program"}, {}, {}, plenty}));
    }
    for (size_t i = 0; i < outcomes.size(); ++i) {
      auto outcome = outcomes[i].get();
      auto number = static_cast<int>(i / 2);
      CHECK(outcome.how == (i % 2 == 0 ? end::exited : end::not_started));
      if (i % 2 == 0 && number % 7 != 0)
        CHECK(outcome.error
              == "exit status " + std::to_string(number % 7) + ": "
                   + std::to_string(number));
    }
    // Counted where nothing runs; the wake-up is one.
    std::promise<size_t> after;
    runner.run({{"no-such-program"}, {}, {}, plenty},
               [&](command_outcome) { after.set_value(open_descriptors()); });
    CHECK(after.get_future().get() == before + 1);
  }
  CHECK(open_descriptors() == before);
  CHECK_FALSE(has_children());
}

TEST_CASE("a runner that goes kills and reaps what runs") {
  scratch_folder folder;
  witness processes{folder};
  std::vector<std::future<command_outcome>> outcomes;
  {
    command_runner runner;
    outcomes.push_back(run(
      runner,
      shell(processes.prelude() + "trap '' TERM; sleep 1000 & sleep 1000")));
    processes.await_start();
    // These may not even have been looked at.
    for (int i = 0; i < 5; ++i)
      outcomes.push_back(run(runner, shell("sleep 1000")));
  }
  for (auto& outcome : outcomes) {
    REQUIRE(outcome.wait_for(0s) == std::future_status::ready);
    auto ended = outcome.get();
    CHECK(ended.how == end::cancelled);
    CHECK(ended.error == "cancelled");
  }
  processes.await_end();
  CHECK_FALSE(has_children());
}

TEST_CASE("an outcome may lead to the next program") {
  command_runner runner;
  std::promise<command_outcome> second;
  runner.run(shell("exit 1"), [&](command_outcome) {
    runner.run(shell("exit 2"),
               [&](command_outcome outcome) { second.set_value(outcome); });
  });
  CHECK(second.get_future().get().code == 2);
}

TEST_CASE("H87: an error holds neither input nor arguments nor environment") {
  for (std::string script : {"exit 1", "kill -TERM $$", "sleep 1000"}) {
    command_request request{{"sh", "-c", script, "S3NTINEL"},
                            {{"TOKEN", "S3NTINEL"}},
                            "PAYL0AD",
                            100ms};
    auto outcome = run(request);
    CHECK_FALSE(outcome.error.empty());
    CHECK(outcome.error.find("S3NTINEL") == std::string::npos);
    CHECK(outcome.error.find("PAYL0AD") == std::string::npos);
  }
}
