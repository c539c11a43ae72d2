// Files that are no store, not any more, or of another time.

#include "substrate/transaction.hpp"
#include "tests/catch.hpp"
#include "tests/support/rounds.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/digest.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/store_view.hpp"

#include <filesystem>
#include <fstream>
#include <random>

using namespace alkstore;
using namespace alkstore::test;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

namespace {

constexpr int data_error = 65;

std::string digest_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return sha256(std::string{std::istreambuf_iterator<char>{in}, {}});
}

void overwrite(const std::string& path, int64_t at, size_t bytes) {
  std::minstd_rand random{7};
  std::string noise(bytes, '\0');
  for (auto& x : noise)
    x = static_cast<char>(random());
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(at);
  file << noise;
}

const std::string block = "database = \"a.db\"\nlease-ttl = \"1s\"\n"
                          "outboxes = [{ name = \"box\", log = true }]";

void set_schema_version(const std::string& path, int version) {
  connection db{path, {.sync = durability::normal}};
  transaction tx{db};
  tx.run("UPDATE alkstore_meta SET value = ?1 WHERE key = 'schema_version'",
         version);
  tx.commit();
}

} // namespace

TEST_CASE("H60: a file that is damaged or no database ends the node with an "
          "error, stays as it is, and nothing is made anew") {
  temp_dir dir;
  auto file = dir.path("a.db");
  put_messages(file, "box", std::vector<std::string>(2000, "x"));
  SECTION("its first bytes are overwritten") {
    overwrite(file, 0, 16);
  }
  SECTION("a page in the middle of the schema is") {
    overwrite(file, 100, 4000);
  }
  SECTION("it is a text") {
    fs::remove(file);
    write_file(file, std::string(10'000, 't'));
  }
  auto before = digest_of(file);
  node_process node{dir.path(), block};
  CHECK(node.exit_status() == data_error);
  CHECK(node.count("alkstore.database: ") == 1);
  CHECK(digest_of(file) == before);
  CHECK_FALSE(fs::exists(file + "-wal"));
}

TEST_CASE("H60: damage that is found at work ends the node with an error, and "
          "the next one, too") {
  temp_dir dir;
  auto file = dir.path("a.db");
  put_messages(file, "box", std::vector<std::string>(2000, "x"));
  auto size = fs::file_size(file);
  overwrite(file, static_cast<int64_t>(size / 8192 * 4096), 4096);
  // Past the rows, everywhere behind the schema's pages.
  for (uintmax_t at = size / 4; at + 4096 <= size; at += 8192)
    overwrite(file, static_cast<int64_t>(at / 4096 * 4096), 4096);
  for (int start = 0; start < 2; ++start) {
    node_process node{dir.path(), block};
    CHECK(node.exit_status() == data_error);
    CHECK(node.count("malformed") > 0);
  }
}

TEST_CASE("H60: an empty file is a new store") {
  temp_dir dir;
  write_file(dir.path("a.db"), "");
  node_process node{dir.path(), block};
  node.await("leading");
  put_message(dir.path("a.db"), "box", "x");
  node.await("delivered box");
  CHECK(node.stop() == 0);
}

TEST_CASE("H62: a file of a newer version is refused with both versions and "
          "stays byte for byte as it is") {
  temp_dir dir;
  auto file = dir.path("a.db");
  put_message(file, "box", "x");
  set_schema_version(file, 2);
  auto before = digest_of(file);
  node_process node{dir.path(), block};
  CHECK(node.exit_status() == data_error);
  CHECK(node.count("schema version 2") == 1);
  CHECK(node.count("up to version 1") == 1);
  CHECK(digest_of(file) == before);
}

TEST_CASE("H62: a running node stops when another program upgrades the file") {
  temp_dir dir;
  auto file = dir.path("a.db");
  node_process node{dir.path(), block};
  node.await("leading");
  auto begin = steady_now();
  set_schema_version(file, 2);
  CHECK(node.exit_status() == data_error);
  CHECK(steady_now() - begin < 5s);
  CHECK(node.count("schema version 2") > 0);
}

TEST_CASE("H61: a store that was replaced by an older copy is not written to "
          "any more, and the copy is whole") {
  temp_dir dir;
  auto file = dir.path("a.db"), copy = dir.path("copy.db");
  put_message(file, "box", "in both");
  fs::copy_file(file, copy);
  auto before = digest_of(copy);
  node_process node{dir.path(), block};
  node.await("delivered box");
  put_message(file, "box", "after the copy");
  node.await("delivered box", 2);
  // As an operator restores a backup, side files and all.
  fs::remove(file + "-wal");
  fs::remove(file + "-shm");
  fs::rename(copy, file);
  CHECK(node.exit_status() == 74);
  CHECK(digest_of(file) == before);
  node_process next{dir.path(), block};
  next.await("delivered box");
  CHECK(next.stop() == 0);
  CHECK(store_view{file}.text("PRAGMA integrity_check") == "ok");
}
