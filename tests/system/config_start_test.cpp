// What the node refuses at its start, and how it says so.

#include "tests/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/store_view.hpp"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

using namespace alkstore;
using namespace alkstore::test;

namespace fs = std::filesystem;

namespace {

constexpr int usage = 64, data_error = 65, config_error = 78;

bool says(const child_process& x, const std::string& piece) {
  return x.count(piece) > 0;
}

// What `arguments` alone make of it, in `directory`.
struct finished_run {
  int status;
  std::string output;
  millis took;

  bool says(const std::string& piece) const {
    return output.find(piece) != std::string::npos;
  }
};

finished_run run(const std::string& directory,
                 std::vector<std::string> arguments,
                 bool unprivileged = false) {
  child_options options;
  options.argv = {ALKSTORE_NODE};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.directory = directory;
  options.unprivileged = unprivileged;
  auto begin = steady_now();
  child_process node{std::move(options)};
  auto status = node.exit_status();
  return {status, node.output(), steady_now() - begin};
}

std::set<std::string> files_in(const std::string& directory) {
  std::set<std::string> out;
  for (auto& x : fs::directory_iterator{directory})
    out.insert(x.path().filename().string());
  return out;
}

void give_to_nobody(const std::string& path) {
  if (::geteuid() == 0)
    REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
}

// One store that was used and closed, alone in a folder that nobody owns.
std::string used_store(const temp_dir& dir) {
  give_to_nobody(dir.path());
  fs::create_directory(dir.path("sub"));
  auto file = dir.path("sub/a.db");
  put_message(file, "box", "x");
  give_to_nobody(dir.path("sub"));
  give_to_nobody(file);
  return file;
}

node_options as_nobody() {
  node_options out;
  out.unprivileged = true;
  return out;
}

} // namespace

TEST_CASE("S25: the node runs from caf-application.conf alone") {
  temp_dir dir;
  write_file(dir.path("caf-application.conf"), R"(
alkstore {
  database = "demo.db"
  synchronous = "normal"
  schedules = [{ name = "tick", spec = "@every 1s", queue = "ticks" }]
  queues = [{ name = "ticks", outbox = "out" }]
  outboxes = [{ name = "out", log = true }]
}
)");
  child_process node{{{ALKSTORE_NODE}, dir.path(), "/dev/null", {}, false, {}}};
  node.await("leading");
  node.await("fired tick job=");
  node.await("forwarded ticks job=");
  node.await("delivered out job=");
  node.signal(SIGINT);
  CHECK(node.exit_status() == 0);
  CHECK(says(node, "stopped"));
  CHECK(fs::exists(dir.path("demo.db")));
}

TEST_CASE("S25: unknown keys, wrong types, durations without a unit and "
          "unusable paths are refused at the start, by name") {
  temp_dir dir;
  auto refused = [&](const std::string& block, const std::string& key) {
    node_process node{dir.path(), block};
    CHECK(node.exit_status() == config_error);
    INFO(node.output());
    CHECK(says(node, key));
    CHECK_FALSE(says(node, "started"));
  };
  refused("databse = \"a.db\"", "databse: ");
  refused("database = 7", "alkstore.database: ");
  refused("busy-timeout = 5", "alkstore.busy-timeout: ");
  refused("database = \"no/such/folder/a.db\"", "alkstore.database: ");
  refused("database = \".\"", "alkstore.database: ");
  CHECK_FALSE(fs::exists(dir.path("a.db")));
}

TEST_CASE("S25: a file that is no SQLite database is refused, not overwritten, "
          "with status 65") {
  temp_dir dir;
  std::string junk(4096, 'j');
  auto file = write_file(dir.path("a.db"), junk);
  node_process node{dir.path(), "database = \"a.db\""};
  CHECK(node.exit_status() == data_error);
  CHECK(says(node, "alkstore.database: "));
  std::ifstream again{file, std::ios::binary};
  CHECK(std::string{std::istreambuf_iterator<char>{again}, {}} == junk);
}

TEST_CASE("S25: the command line explains itself and refuses what it does not "
          "know") {
  temp_dir dir;
  auto help = run(dir.path(), {"--help"});
  CHECK(help.status == 0);
  CHECK(help.says("--config-file"));
  CHECK(help.says("lease-ttl"));
  auto version = run(dir.path(), {"--version"});
  CHECK(version.status == 0);
  CHECK(version.says(ALKSTORE_VERSION));
  auto unknown = run(dir.path(), {"--no-such-flag"});
  CHECK(unknown.status == usage);
  CHECK(unknown.says("--no-such-flag"));
  CHECK(files_in(dir.path()).empty());
}

TEST_CASE("H88: a configuration file that cannot be read ends the start, with "
          "path and reason") {
  temp_dir dir;
  give_to_nobody(dir.path());
  write_file(dir.path("binary.conf"), std::string("\0\1\2ELF\377\376", 9));
  write_file(dir.path("closed.conf"), "");
  fs::permissions(dir.path("closed.conf"), fs::perms::none);
  auto before = files_in(dir.path());
  auto refused = [&](const std::string& path, const std::string& reason) {
    auto node = run(dir.path(), {"--config-file=" + path}, true);
    INFO(node.output);
    CHECK(node.status == config_error);
    CHECK(node.says(path));
    CHECK(node.says(reason));
    CHECK(node.took < millis{5000}); // 1 s on a machine of its own
  };
  refused(dir.path("missing.conf"), "No such file");
  refused("~/no-such-alkstore.conf", "cannot be read");
  refused("~nobody/x.conf", "`~`");
  refused(dir.path(), "directory");
  refused(dir.path("closed.conf"), "Permission denied");
  refused(dir.path("binary.conf"), "");
  CHECK(files_in(dir.path()) == before);
}

TEST_CASE(
  "H88: an empty configuration file means the defaults, and a line says "
  "so") {
  temp_dir dir;
  write_file(dir.path("empty.conf"), "");
  child_process node{{{ALKSTORE_NODE, "--config-file", "empty.conf"},
                      dir.path(),
                      "/dev/null",
                      {},
                      false,
                      {}}};
  node.await("every key has its default");
  node.await("leading");
  node.signal(SIGTERM);
  CHECK(node.exit_status() == 0);
  CHECK(fs::exists(dir.path("alkstore.db")));
}

TEST_CASE("H89: the start and --check tell all findings in one run, with file, "
          "line, key and the nearest known key") {
  temp_dir dir;
  std::string faulty = "lease-tll = \"20s\"\n" // line 2
                       "max-attempts = 5\n"    // of schedules
                       "retention = \"1d\"\n"  //
                       "retention = \"2d\"\n"  // line 5
                       "database = 12\n";      // line 6
  for (bool check : {false, true}) {
    node_options options;
    if (check)
      options.arguments = {"--check"};
    node_process node{dir.path(), faulty, options};
    CHECK(node.exit_status() == config_error);
    INFO(node.output());
    CHECK(says(node, ".conf:2: alkstore.lease-tll"));
    CHECK(says(node, "lease-ttl"));
    CHECK(says(node, ".conf:3: alkstore.max-attempts"));
    CHECK(says(node, "one of schedules"));
    CHECK(says(node, ".conf:5: alkstore.retention"));
    CHECK(says(node, ".conf:6: alkstore.database"));
    CHECK(node.count(".conf:") == 4);
  }
  node_options options;
  options.arguments = {"--check"};
  node_process node{dir.path(), "database = \"a.db\"", options};
  CHECK(node.exit_status() == 0);
  CHECK(says(node, "no findings"));
  CHECK_FALSE(fs::exists(dir.path("a.db")));
}

TEST_CASE(
  "H90: a duration without a unit, zero, negative, out of range or with "
  "spaces is refused, the same for every key") {
  temp_dir dir;
  std::string faulty;
  std::vector<std::string> bad{"600",     "\"600\"",  "\"0s\"",
                               "\"-5s\"", "\"1e3s\"", "\"9999999999d\""};
  for (auto& value : bad) {
    auto block = "lease-ttl = " + value + "\nstop-grace = " + value
                 + "\nschedules = [{ name = \"s\", spec = \"@every 1s\", "
                   "queue = \"q\", visibility-timeout = "
                 + value
                 + " }]\noutboxes = [{ name = \"o\", url = "
                   "\"http://127.0.0.1/\", timeout = "
                 + value + " }]";
    node_process node{dir.path(), block};
    CHECK(node.exit_status() == config_error);
    INFO(value << ":\n" << node.output());
    for (auto key :
         {"lease-ttl", "stop-grace", "visibility-timeout", "].timeout"})
      CHECK(says(node, key));
  }
  node_process bare{dir.path(), "lease-ttl = 600"};
  CHECK(bare.exit_status() == config_error);
  CHECK(says(bare, "ms"));
  CHECK(says(bare, "min"));
  node_process tight{dir.path(), "lease-ttl = \"10s\"\nlease-renew = \"6s\""};
  CHECK(tight.exit_status() == config_error);
  CHECK(says(tight, "alkstore.lease-renew: "));
}

TEST_CASE("H91: an entry of queues without a name is refused, and an empty "
          "queue's first job is taken within a second") {
  temp_dir dir;
  node_process nameless{dir.path(), "queues = [{ log = true }]"};
  CHECK(nameless.exit_status() == config_error);
  CHECK(says(nameless, "name"));
  node_process node{dir.path(), "database = \"a.db\"\n"
                                "outboxes = [{ name = \"late\", log = true }]"};
  node.await("leading");
  CHECK_FALSE(says(node, "warn"));
  auto begin = steady_now();
  put_message(dir.path("a.db"), "late", "x");
  CHECK(node.await("delivered late").at - begin < millis{1000});
  CHECK(node.stop() == 0);
}

TEST_CASE("H59: without the permissions that it needs the node ends at once, "
          "naming path and permission, and leaves no file behind") {
  temp_dir dir;
  auto file = used_store(dir);
  auto refused = [&](const std::string& reason) {
    auto before = files_in(dir.path("sub"));
    auto begin = steady_now();
    node_process node{dir.path(), "database = \"" + file + "\"", as_nobody()};
    CHECK(node.exit_status() == config_error);
    CHECK(steady_now() - begin < millis{5000}); // 1 s on a machine of its own
    INFO(node.output());
    CHECK(says(node, "alkstore.database: "));
    CHECK(says(node, file));
    CHECK(says(node, reason));
    CHECK(files_in(dir.path("sub")) == before);
  };
  SECTION("the file is read-only") {
    fs::permissions(file, fs::perms{0444});
    refused("write");
  }
  SECTION("the directory is") {
    fs::permissions(dir.path("sub"), fs::perms{0555});
    refused("write");
  }
  SECTION("the file may not be read") {
    fs::permissions(file, fs::perms::none);
    refused("read");
  }
}

TEST_CASE("H59: a missing directory is named") {
  temp_dir dir;
  node_process node{dir.path(), "database = \"" + dir.path("none/a.db") + "\""};
  CHECK(node.exit_status() == config_error);
  CHECK(says(node, dir.path("none")));
  CHECK_FALSE(fs::exists(dir.path("none")));
}

TEST_CASE("the node needs no privileges, and its files are its owner's only") {
  temp_dir dir;
  give_to_nobody(dir.path());
  auto file = dir.path("new.db");
  node_process node{dir.path(), "database = \"" + file + "\"", as_nobody()};
  node.await("leading");
  for (auto suffix : {"", "-wal", "-shm"})
    CHECK(fs::status(file + suffix).permissions()
          == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK_FALSE(says(node, "public directory"));
  CHECK(node.stop() == 0);
}
