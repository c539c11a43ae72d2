// Programs of other hosts, over a port that the node publishes.

#include "tests/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/store_view.hpp"

#include <cstdlib>

using namespace alkstore;
using namespace alkstore::test;

namespace {

// Of a node's "published" line.
std::string port_of(node_process& node) {
  auto line = node.await("published node").text;
  auto from = line.find("127.0.0.1:") + 10;
  return line.substr(from, line.find(',', from) - from);
}

std::string numbers(int last) {
  std::string out;
  for (int i = 1; i <= last; ++i)
    out += std::to_string(i) + "\n";
  return out;
}

struct client {
  temp_dir& dir;
  std::vector<std::string> tls = {};

  child_options call(const std::string& port, const std::string& text,
                     const std::string& queue = "lines") {
    child_options out;
    out.argv = {ALKSTORE_REMOTE, "--port=" + port, "--queue=" + queue};
    out.argv.insert(out.argv.end(), tls.begin(), tls.end());
    out.directory = dir.path();
    out.input = write_file(dir.path("input"), text);
    return out;
  }
};

constexpr auto all_jobs = "SELECT count(*) FROM alkstore_jobs";

// A certificate for `name`, signed by the authority of that name.
void make_certificate(const temp_dir& dir, const std::string& name,
                      const std::string& authority = {}) {
  auto file = dir.path(name);
  auto command = "openssl req -x509 -newkey ec -pkeyopt "
                 "ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN="
                 + name + " -keyout " + file + ".key -out " + file + ".pem";
  if (!authority.empty())
    command += " -CA " + dir.path(authority) + ".pem -CAkey "
               + dir.path(authority) + ".key";
  REQUIRE(std::system((command + " 2>/dev/null").c_str()) == 0);
}

std::vector<std::string> files(const temp_dir& dir, const std::string& name,
                               const std::string& authority) {
  return {"--certificate=" + dir.path(name) + ".pem",
          "--key=" + dir.path(name) + ".key",
          "--authorities=" + dir.path(authority) + ".pem", "--tries=2"};
}

} // namespace

TEST_CASE("a remote program loses the node, reconnects, and has enqueued each "
          "of its lines once") {
  temp_dir dir;
  auto port = std::string{"0"};
  auto block = [&] {
    return "database = \"a.db\"\n publish { port = " + port + " }";
  };
  node_process first{dir.path(), block()};
  port = port_of(first);
  child_process remote{client{dir}.call(port, numbers(3000))};
  remote.await("100 ");
  first.kill();
  remote.await("line "); // the lost connection
  node_process second{dir.path(), block()};
  CHECK(remote.exit_status() == 0);
  CHECK(second.stop() == 0);
  store_view store{dir.path("a.db")};
  CHECK(store.number(all_jobs) == 3000);
  CHECK(store.payloads().size() == 3000);
}

TEST_CASE("a remote program is told what the store refuses, and a stop leaves "
          "no client waiting") {
  temp_dir dir;
  node_process node{dir.path(), "database = \"a.db\"\n publish { port = 0 }"};
  auto port = port_of(node);
  child_process refused{client{dir}.call(port, "x\n", "__alkstore_x")};
  CHECK(refused.exit_status() == 1);
  CHECK(refused.count("__alkstore") == 1);
  CHECK(node.stop() == 0);
}

TEST_CASE("a port that is taken stops the node with what is wrong") {
  temp_dir dir;
  node_process node{dir.path(), "database = \"a.db\"\n publish { port = 0 }"};
  auto port = port_of(node);
  node_process other{dir.path(),
                     "database = \"a.db\"\n publish { port = " + port + " }"};
  CHECK(other.exit_status() == 78);
  CHECK(other.count("alkstore.publish: 127.0.0.1:" + port) == 1);
  CHECK(node.stop() == 0);
}

TEST_CASE("with certificates the port takes clients of the same authority, and "
          "no others") {
  temp_dir dir;
  make_certificate(dir, "ours");
  make_certificate(dir, "theirs");
  make_certificate(dir, "node", "ours");
  make_certificate(dir, "friend", "ours");
  make_certificate(dir, "stranger", "theirs");
  node_process node{dir.path(), "database = \"a.db\"\n publish { port = 0\n"
                                "certificate = \"node.pem\"\n"
                                "key = \"node.key\"\n"
                                "authorities = \"ours.pem\" }"};
  auto port = port_of(node);
  child_process taken{
    client{dir, files(dir, "friend", "ours")}.call(port, numbers(10))};
  CHECK(taken.exit_status() == 0);
  child_process refused{
    client{dir, files(dir, "stranger", "ours")}.call(port, numbers(10))};
  CHECK(refused.exit_status() == 1);
  CHECK(node.stop() == 0);
  CHECK(store_view{dir.path("a.db")}.number(all_jobs) == 10);
}
