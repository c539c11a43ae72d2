#include "substrate/copies.hpp"

#include "tests/substrate/caller.hpp"
#include "tests/substrate/fixture.hpp"

#include <sys/stat.h>

#include <fstream>

using namespace alkstore;

namespace {

int64_t count_jobs(const std::string& path) {
  manual_clock time;
  connection db{path, {.read_only = true}, time};
  transaction tx{db, transaction::access::read};
  auto row = tx.sql("SELECT count(*) FROM alkstore_jobs");
  row.step();
  return row.integer(0);
}

} // namespace

TEST_CASE("a copy is one state of the store, though others commit while it is "
          "made") {
  store s;
  // More than one step of the copy, and all of it still in the WAL.
  for (int i = 0; i < 10; ++i)
    s.enqueue(q, std::string(1024 * 1024, 'x'));
  auto target = s.dir / "copy.db";
  connection other{s.db.path(), {.sync = durability::normal}, s.time};
  std::vector<double> told;
  back_up(s.db, target, [&](double done) {
    told.push_back(done);
    transaction tx{other};
    jobs::enqueue(tx, q, "late");
    tx.commit();
  });
  CHECK(told.size() > 2);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() == 1.0);
  CHECK(count_jobs(target) == 10);
  CHECK(s.get(3).stable_id.size() == 32);
  CHECK(count_jobs(s.db.path()) == 10 + static_cast<int64_t>(told.size()));
  struct stat info{};
  REQUIRE(::stat(target.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK_FALSE(std::filesystem::exists(target + ".part"));
}

TEST_CASE("a copy replaces no file, and one that fails leaves none behind") {
  store s;
  auto target = s.dir / "copy.db";
  std::ofstream{target} << "precious";
  CHECK(error_of([&] { back_up(s.db, target); }) == errc::duplicate);
  CHECK(std::filesystem::file_size(target) == 8);
  std::filesystem::remove(target);
  std::ofstream{target + ".part"} << "another's";
  CHECK(error_of([&] { back_up(s.db, target); }) == errc::duplicate);
  CHECK(std::filesystem::file_size(target + ".part") == 9);
  std::filesystem::remove(target + ".part");
  auto stop = [](double) { throw std::runtime_error{"enough"}; };
  CHECK_THROWS(back_up(s.db, target, stop));
  CHECK_FALSE(std::filesystem::exists(target));
  CHECK_FALSE(std::filesystem::exists(target + ".part"));
  CHECK(error_of([&] { back_up(s.db, s.dir / "none/copy.db"); })
        == errc::io_error);
  back_up(s.db, target); // and it is as usable as before
  CHECK(count_jobs(target) == 0);
}

TEST_CASE("vacuum gives free pages back to the disk and keeps every row") {
  store s;
  auto id = s.enqueue(q, "kept");
  for (int i = 0; i < 4; ++i)
    s.enqueue(q, std::string(1024 * 1024, 'x'));
  s.write([](transaction& tx) {
    for (int64_t i = 2; i <= 5; ++i)
      jobs::cancel(tx, i);
  });
  auto before = sizes(s.db);
  CHECK(before.free > 4'000'000);
  int told = 0;
  vacuum(s.db, [&](double done) {
    ++told;
    CHECK(done < 0);
  });
  auto after = sizes(s.db);
  CHECK(after.file < before.file - 4'000'000);
  CHECK(after.free == 0);
  CHECK(after.wal == 0);
  CHECK(s.get(id).payload == "kept");
  CHECK(s.enqueue(q) == 6);
  {
    caller other{s.db.path()};
    other.run("BEGIN IMMEDIATE");
    s.db.wait_for_lock(0ms);
    CHECK(error_of([&] { vacuum(s.db); }) == errc::busy);
    other.run("COMMIT");
  }
}
