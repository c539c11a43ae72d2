// A disk that is full or fails, in the middle of a transaction and at its end.
#include "tests/substrate/caller.hpp"
#include "tests/substrate/fixture.hpp"

#include <sys/resource.h>

#include <csignal>

using namespace alkstore;

namespace {

// No file can grow beyond `bytes` while it lives: a write there is an I/O
// error.
class file_size_limit {
public:
  explicit file_size_limit(rlim_t bytes)
    : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    auto limit = before_;
    limit.rlim_cur = bytes;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;
  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

private:
  rlimit before_{};
  void (*handler_)(int);
};

void allow_pages(connection& db, int64_t count) {
  auto text = "PRAGMA max_page_count = " + std::to_string(count);
  REQUIRE(sqlite3_exec(db.handle(), text.c_str(), nullptr, nullptr, nullptr)
          == SQLITE_OK);
}

const std::string large(100000, 'l');

} // namespace

TEST_CASE("S23, H58: a full disk is disk_full, ends the transaction and leaves "
          "nothing behind") {
  store s;
  auto kept = s.enqueue(q, "kept");
  allow_pages(s.db, s.number("PRAGMA page_count") + 2);
  witness unchanged{s};
  {
    transaction tx{s.db};
    jobs::enqueue(tx, q, "an earlier one of the batch");
    CHECK(error_of([&] { jobs::enqueue(tx, q, large); }) == errc::disk_full);
    CHECK_FALSE(tx.is_open());
    CHECK(error_of([&] { jobs::enqueue(tx, q, "a later one"); })
          == errc::invalid_argument);
    CHECK(error_of([&] { tx.commit(); }) == errc::invalid_argument);
  }
  for (int i = 0; i < 10; ++i)
    CHECK(error_of([&] { s.enqueue(q, large); }) == errc::disk_full);
  CHECK(unchanged.saw_nothing());
  allow_pages(s.db, 1 << 30);
  s.enqueue(q, large);
  CHECK(s.claim(q).id == kept);
  CHECK(s.number("SELECT integrity_check = 'ok' FROM pragma_integrity_check")
        == 1);
}

TEST_CASE("S23: an operation that is refused changed nothing, the rest of its "
          "transaction commits") {
  store s;
  s.enqueue(q, "x", {.dedupe_key = "k"});
  s.fail(s.claim(q).claim);
  auto held = s.enqueue(q, "x", {.dedupe_key = "k"});
  auto claim = s.claim(q).claim;
  s.time.advance(300s);
  transaction tx{s.db};
  jobs::enqueue(tx, q, "before");
  auto changes = tx.changes_so_far();
  CHECK(error_of([&] { jobs::enqueue(tx, q, "x", {.priority = 99}); })
        == errc::invalid_argument);
  CHECK(error_of([&] { claims::ack(tx, claim); }) == errc::claim_lost);
  CHECK(error_of([&] { claims::retry(tx, claim, "no"); }) == errc::claim_lost);
  CHECK(error_of([&] { claims::fail(tx, claim, "no"); }) == errc::claim_lost);
  CHECK(error_of([&] { claims::release(tx, claim); }) == errc::claim_lost);
  CHECK(error_of([&] { claims::heartbeat(tx, claim, 1s); })
        == errc::claim_lost);
  CHECK(error_of([&] { dead_letters::requeue(tx, 1); }) == errc::duplicate);
  CHECK(error_of([&] { schedules::pause(tx, "none"); }) == errc::not_found);
  CHECK(error_of([&] { leases::renew(tx, lease{"lock", "a", 1}); })
        == errc::lock_lost);
  CHECK(error_of([&] { schedules::tick(tx, lease{"lock", "a", 1}); })
        == errc::leadership_lost);
  CHECK(tx.changes_so_far() == changes);
  jobs::enqueue(tx, q, "after");
  tx.commit();
  CHECK(s.get(held + 1).payload == "before");
  CHECK(s.get(held + 2).payload == "after");
}

TEST_CASE("S23: a COMMIT that the disk fails is an I/O error of unknown "
          "outcome") {
  store s;
  s.enqueue(q);
  auto size = std::filesystem::file_size(s.db.path() + "-wal");
  transaction tx{s.db};
  jobs::enqueue(tx, q, large);
  auto code = errc{};
  std::string text;
  try {
    file_size_limit full{size};
    tx.commit();
  } catch (const failure& why) {
    code = why.code();
    text = why.what();
  }
  CHECK(code == errc::io_error);
  CHECK(contains(text, "outcome unknown: the transaction may or may not be "
                       "there after recovery"));
  CHECK_FALSE(tx.is_open());
}

TEST_CASE("H68: a transaction that ends for lack of memory needs none to give "
          "its lock back") {
  store s;
  {
    transaction tx{s.db};
    jobs::enqueue(tx, q, "x");
    sqlite3_hard_heap_limit64(1);
    CHECK(error_of([&] { tx.commit(); }) == errc::out_of_memory);
  }
  sqlite3_hard_heap_limit64(0);
  CHECK(sqlite3_get_autocommit(s.db.handle()));
  CHECK(s.enqueue(q) == 1);
}

TEST_CASE("S22: what was not committed when the connection went is not there") {
  temp_dir dir;
  auto path = dir / "store.db";
  {
    connection db{path, {}};
    transaction tx{db};
    jobs::enqueue(tx, q, large);
  }
  connection db{path, {}};
  transaction tx{db};
  CHECK(jobs::stats(tx).empty());
  CHECK(jobs::enqueue(tx, q, "x") == 1);
}

TEST_CASE("H60: a damaged page is corrupt, and nothing is made anew") {
  temp_dir dir;
  auto path = dir / "store.db";
  {
    connection db{path, {}};
    transaction tx{db};
    for (int i = 0; i < 1000; ++i)
      jobs::enqueue(tx, q, "x");
    tx.commit();
  }
  {
    auto file = std::fopen(path.c_str(), "r+b");
    REQUIRE(file);
    for (long offset = 4096; offset < 64 * 4096; offset += 4096) {
      std::fseek(file, offset, SEEK_SET);
      std::fputs(std::string(4096, '\xA5').c_str(), file);
    }
    std::fclose(file);
  }
  CHECK(error_of([&] {
          connection db{path, {}};
          transaction tx{db};
          claims::claim(tx, q, "w", 1);
        })
        == errc::corrupt);
}

TEST_CASE("H60: a change that misses a row which an index has named is "
          "corrupt") {
  store s;
  transaction tx{s.db};
  auto id = jobs::enqueue(tx, q, "x");
  constexpr auto move = "UPDATE alkstore_jobs SET at = 0 WHERE id = ?1";
  tx.run(move, id);
  tx.require_changed(1);
  tx.run(move, id + 1);
  CHECK(error_of([&] { tx.require_changed(1); }) == errc::corrupt);
}

TEST_CASE("H60: a schedule whose interval or boundary is damaged is corrupt") {
  store s;
  transaction tx{s.db};
  auto held = leases::acquire(tx, leases::scheduler, "me", 1min);
  REQUIRE(held);
  schedules::add(tx, {"s", "@every 1m", "q", "p", {}});
  for (auto damage : {"interval_ms = 0, next_fire_at = 0",
                      "interval_ms = -5536, next_fire_at = 0",
                      "interval_ms = 60000, next_fire_at = -1"}) {
    auto text = std::string{"UPDATE alkstore_schedules SET "} + damage;
    REQUIRE(sqlite3_exec(s.db.handle(), text.c_str(), nullptr, nullptr, nullptr)
            == SQLITE_OK);
    CHECK(error_of([&] { schedules::tick(tx, *held); }) == errc::corrupt);
  }
  CHECK(jobs::stats(tx).empty());
}
