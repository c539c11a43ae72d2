#include "substrate/connection.hpp"

#include "tests/substrate/caller.hpp"
#include "tests/substrate/fixture.hpp"
#include "tests/substrate/processes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

using namespace alkstore;

namespace {

// A pragma's value as text, or any other query's first column.
std::string ask(const connection& db, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  REQUIRE(sqlite3_prepare_v2(db.handle(), sql, -1, &raw, nullptr) == SQLITE_OK);
  statement row{db.handle(), raw};
  REQUIRE(row.step());
  return row.bytes(0);
}

errc opening(const std::string& path, const open_options& options = {}) {
  return error_of([&] { connection{path, options}; });
}

std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

TEST_CASE("H63: every connection of ours has the same settings") {
  store s{open_options{}};
  connection relaxed{s.db.path(), {.sync = durability::normal}, s.time};
  connection reader{s.db.path(), {.read_only = true}, s.time};
  CHECK(ask(s.db, "PRAGMA synchronous") == "2");
  CHECK(ask(reader, "PRAGMA synchronous") == "2");
  CHECK(ask(relaxed, "PRAGMA synchronous") == "1");
  for (auto db : {&s.db, &relaxed, &reader}) {
    CHECK(ask(*db, "PRAGMA journal_mode") == "wal");
    CHECK(ask(*db, "PRAGMA secure_delete") == "0");
  }
  CHECK(ask(s.db, "PRAGMA wal_autocheckpoint") == "0");
  CHECK(ask(relaxed, "PRAGMA wal_autocheckpoint") == "0");
}

TEST_CASE("a new file and what SQLite puts beside it are its owner's only") {
  temp_dir dir;
  auto before = ::umask(0);
  connection db{dir / "new.db", {}};
  ::umask(before);
  for (auto name : {"new.db", "new.db-wal", "new.db-shm"}) {
    struct stat info{};
    REQUIRE(::stat((dir / name).c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
  }
}

TEST_CASE("names that SQLite gives a meaning are files like any other") {
  temp_dir dir;
  auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir / "");
  for (auto name : {":memory:", "file:x?mode=memory"}) {
    CHECK(opening(name) == errc{});
    CHECK(std::filesystem::file_size(dir / name) > 0);
  }
  std::filesystem::current_path(before);
  CHECK(opening("") == errc::invalid_argument);
  CHECK(opening(std::string{"a\0b", 3}) == errc::invalid_argument);
}

TEST_CASE("what cannot be opened is refused with its path") {
  temp_dir dir;
  CHECK(opening(dir / "missing/store.db") == errc::io_error);
  CHECK(text_of([&] { connection{dir / "missing/store.db", {}}; })
        == "database " + dir / "missing/store.db" + ": cannot create "
             + dir / "missing/store.db" + ": No such file or directory");
  CHECK(opening(dir / "") == errc::io_error);
  CHECK(opening(dir / "absent.db", {.read_only = true}) == errc::io_error);
  CHECK_FALSE(std::filesystem::exists(dir / "absent.db"));
  std::ofstream{dir / "text.db"} << std::string(5000, 't');
  CHECK(opening(dir / "text.db") == errc::corrupt);
  CHECK(read_file(dir / "text.db") == std::string(5000, 't'));
  std::ofstream{dir / "empty.db"};
  CHECK(opening(dir / "empty.db", {.read_only = true})
        == errc::invalid_argument);
  CHECK(opening(dir / "empty.db") == errc{});
}

TEST_CASE("H59: without permission the code is read_only, and the text has the "
          "path and what is missing") {
  temp_dir dir;
  {
    connection{dir / "store.db", {}};
  }
  ::chmod((dir / "store.db").c_str(), 0444);
  ::chmod((dir / "").c_str(), 0555);
  auto status = wait_for(fork_child([&] {
    if (::getuid() == 0 && ::setuid(65534) != 0)
      return 1;
    if (opening(dir / "store.db") != errc::read_only)
      return 2;
    if (opening(dir / "new.db") != errc::read_only)
      return 3;
    // A reader, too, has to make the side files if there are none.
    auto text = text_of(
      [&] { connection{dir / "store.db", {.read_only = true}}; });
    return contains(text, "database " + dir / "store.db")
               && contains(text, "no permission to write -wal and -shm")
             ? 0
             : 4;
  }));
  ::chmod((dir / "").c_str(), 0755);
  CHECK(status == 0);
  CHECK_FALSE(std::filesystem::exists(dir / "new.db"));
}

TEST_CASE("H53: a transaction inside a transaction is refused at once, "
          "operations become part of it") {
  store s;
  witness unchanged{s};
  {
    transaction tx{s.db};
    jobs::enqueue(tx, box, "x");
    schedules::add(tx, {"s", "@every 1s", "q", "p", {}});
    CHECK(error_of([&] { transaction{s.db}; }) == errc::invalid_argument);
    CHECK(text_of([&] { transaction{s.db, transaction::access::read}; })
          == "a transaction is already open on this connection");
    connection other{s.db.path(), {.read_only = true}, s.time};
    other.wait_for_lock(0ms);
    CHECK(jobs::get(tx, 1).payload == "x");
  }
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("a lock that another holds is busy after the time it was given") {
  store s;
  caller other{s.db.path()};
  other.run("BEGIN IMMEDIATE");
  s.db.wait_for_lock(0ms);
  CHECK(error_of([&] { transaction{s.db}; }) == errc::busy);
  {
    transaction read{s.db, transaction::access::read};
    CHECK(jobs::stats(read).empty());
  }
  auto start = clock::system().steady_now();
  CHECK(opening(s.db.path(), {.busy_timeout = 20ms}) == errc::busy);
  CHECK(clock::system().steady_now() - start >= 20ms);
  other.run("ROLLBACK");
  CHECK(error_of([&] { s.enqueue(q); }) == errc{});
}

TEST_CASE("if_free begins like any other, and is null where that is busy") {
  store s;
  s.db.wait_for_lock(0ms);
  {
    connection other{s.db.path(), {}, s.time};
    transaction held{other};
    CHECK(transaction::if_free(s.db) == nullptr);
    CHECK(error_of([&] { transaction{s.db}; }) == errc::busy);
  }
  auto tx = transaction::if_free(s.db);
  REQUIRE(tx);
  CHECK(error_of([&] { transaction::if_free(s.db); })
        == errc::invalid_argument);
  jobs::enqueue(*tx, q, "x");
  tx->commit();
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 1);
}

TEST_CASE("a read transaction sees one state, data_version only the commits of "
          "others") {
  store s;
  connection reader{s.db.path(), {.read_only = true}, s.time};
  auto own = s.db.data_version();
  auto others = reader.data_version();
  {
    transaction tx{reader, transaction::access::read};
    s.enqueue(q);
    CHECK(jobs::stats(tx).empty());
    CHECK(error_of([&] { jobs::enqueue(tx, q, "x"); }) == errc::read_only);
  }
  CHECK(s.db.data_version() == own);
  CHECK(reader.data_version() != others);
  transaction tx{reader, transaction::access::read};
  CHECK(jobs::stats(tx).size() == 1);
}

TEST_CASE("an empty transaction writes nothing") {
  store s;
  witness unchanged{s};
  auto size = std::filesystem::file_size(s.db.path() + "-wal");
  {
    transaction tx{s.db};
  }
  s.write([](transaction&) {});
  CHECK(std::filesystem::file_size(s.db.path() + "-wal") == size);
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("a transaction reads the clock once, when it has the lock") {
  store s;
  caller other{s.db.path()};
  other.run("BEGIN IMMEDIATE");
  // While we wait for the lock, a second passes and the other one commits.
  auto waiting = [](void* self, int) {
    auto& [time, app] = *static_cast<std::pair<manual_clock&, caller&>*>(self);
    time.advance(1s);
    return int{sqlite3_exec(app, "COMMIT", nullptr, nullptr, nullptr)
               == SQLITE_OK};
  };
  std::pair<manual_clock&, caller&> both{s.time, other};
  sqlite3_busy_handler(s.db.handle(), waiting, &both);
  transaction tx{s.db};
  CHECK(tx.now() == T + 1s);
  s.time.advance(1s);
  CHECK(tx.now() == T + 1s);
  CHECK(jobs::get(tx, jobs::enqueue(tx, q, "x")).enqueued_at == T + 1s);
}

TEST_CASE("checkpoint empties the WAL, but never behind a reader's back") {
  store s;
  CHECK(s.db.checkpoint(connection::checkpoint_mode::passive) == 0);
  s.enqueue(q);
  CHECK(s.db.wal_pages() > 0);
  {
    connection reader{s.db.path(), {.read_only = true}, s.time};
    transaction snapshot{reader, transaction::access::read};
    s.enqueue(q);
    CHECK(s.db.checkpoint(connection::checkpoint_mode::passive) > 0);
    s.db.wait_for_lock(0ms);
    CHECK(s.db.checkpoint(connection::checkpoint_mode::truncate) > 0);
    CHECK(s.db.wal_pages() > 0);
  }
  CHECK(s.db.checkpoint(connection::checkpoint_mode::truncate) == 0);
  CHECK(s.db.wal_pages() == 0);
  CHECK(std::filesystem::file_size(s.db.path() + "-wal") == 0);
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 2);
}

TEST_CASE("a checkpoint while another connection makes one leaves the count of "
          "pages as it is") {
  store s;
  s.enqueue(q);
  auto pages = s.db.wal_pages();
  connection reader{s.db.path(), {.read_only = true}, s.time};
  transaction snapshot{reader, transaction::access::read};
  caller other{s.db.path()};
  other.run("SELECT count(*) FROM alkstore_jobs"); // opens the WAL
  // SQLite asks whether to wait for the reader: a moment within the other's
  // own.
  auto meanwhile = [](void* db, int) {
    auto passive = connection::checkpoint_mode::passive;
    CHECK(static_cast<connection*>(db)->checkpoint(passive) > 0);
    return 0;
  };
  sqlite3_busy_handler(other, meanwhile, &s.db);
  CHECK(sqlite3_wal_checkpoint_v2(other, nullptr, SQLITE_CHECKPOINT_TRUNCATE,
                                  nullptr, nullptr)
        == SQLITE_BUSY);
  CHECK(s.db.wal_pages() == pages);
}

TEST_CASE("H61: a file or a WAL that was moved, deleted or replaced is "
          "noticed") {
  store s;
  s.enqueue(q);
  CHECK(s.db.still_there());
  auto path = s.db.path(), wal = path + "-wal";
  SECTION("moved") {
    std::filesystem::rename(path, path + ".old");
  }
  SECTION("deleted") {
    std::filesystem::remove(path);
  }
  SECTION("replaced") {
    std::filesystem::copy_file(path, path + ".copy");
    std::filesystem::rename(path + ".copy", path);
  }
  SECTION("its WAL deleted") {
    std::filesystem::remove(wal);
  }
  SECTION("its WAL replaced") {
    std::filesystem::copy_file(wal, wal + ".copy");
    std::filesystem::rename(wal + ".copy", wal);
  }
  CHECK_FALSE(s.db.still_there());
}

TEST_CASE("H61: a symbolic link's target is watched, and so is where the link "
          "leads") {
  temp_dir dir;
  std::filesystem::create_directory(dir / "real");
  {
    connection{dir / "real/a.db", {}};
  }
  std::filesystem::create_symlink("real/a.db", dir / "link.db");
  connection db{dir / "link.db", {.sync = durability::normal}};
  transaction tx{db};
  jobs::enqueue(tx, q, "x");
  tx.commit();
  CHECK(db.still_there());
  CHECK(db.wal_bytes() > 0);
  SECTION("its WAL deleted") {
    std::filesystem::remove(dir / "real/a.db-wal");
  }
  SECTION("the link led elsewhere") {
    std::filesystem::copy_file(dir / "real/a.db", dir / "b.db");
    std::filesystem::remove(dir / "link.db");
    std::filesystem::create_symlink("b.db", dir / "link.db");
  }
  CHECK_FALSE(db.still_there());
}

TEST_CASE("a directory that every user can write to is known as such") {
  temp_dir dir;
  connection db{dir / "store.db", {}};
  CHECK_FALSE(db.in_public_directory());
  ::chmod((dir / "").c_str(), 01777);
  CHECK(db.in_public_directory());
}
