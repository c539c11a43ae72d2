// Processes that want the same file at the same time.
#include "tests/substrate/fixture.hpp"
#include "tests/substrate/processes.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>

using namespace alkstore;

namespace {

constexpr open_options relaxed{.sync = durability::normal};

// Counts the writes outside of what began as an immediate transaction.
class begin_check {
public:
  explicit begin_check(connection& db) {
    sqlite3_trace_v2(db.handle(), SQLITE_TRACE_STMT, on_statement, this);
  }
  int violations() const { return violations_; }
  int writes() const { return writes_; }

private:
  static int on_statement(unsigned, void* self, void*, void* text) {
    auto& me = *static_cast<begin_check*>(self);
    std::string_view sql{static_cast<const char*>(text)};
    if (sql == "BEGIN IMMEDIATE")
      me.immediate_ = true;
    else if (sql == "COMMIT" || sql == "ROLLBACK")
      me.immediate_ = false;
    else if (sql.starts_with("INSERT") || sql.starts_with("UPDATE")
             || sql.starts_with("DELETE")) {
      ++me.writes_;
      me.violations_ += !me.immediate_;
    }
    return 0;
  }

  bool immediate_ = false;
  int writes_ = 0;
  int violations_ = 0;
};

// One process's part: five operations a round, each in its own transaction.
// Any error of SQLite's ends it.
void take_part(connection& db, const std::string& me, int rounds) {
  auto write = [&](auto what) {
    transaction tx{db};
    what(tx);
    tx.commit();
  };
  for (int i = 0; i < rounds; ++i) {
    std::vector<job> found;
    write([&](transaction& tx) { jobs::enqueue(tx, q, "x"); });
    write([&](transaction& tx) { found = claims::claim(tx, q, me, 1); });
    write([&](transaction& tx) {
      for (auto& x : found)
        i % 2 ? claims::ack(tx, x.claim)
              : claims::retry(tx, x.claim, "again", 0ms);
    });
    write([&](transaction& tx) {
      if (auto held = leases::acquire(tx, "leader", me, 60s)) {
        schedules::tick(tx, *held);
        leases::release(tx, *held);
      }
    });
    transaction read{db, transaction::access::read};
    jobs::stats(read);
  }
}

void check_neighbours(int rounds) {
  temp_dir dir;
  auto path = dir / "store.db";
  auto statuses = in_children(4, [&](int child) {
    connection db{path, relaxed};
    begin_check begins{db};
    take_part(db, std::to_string(child), rounds);
    return begins.writes() > rounds && begins.violations() == 0 ? 0 : 1;
  });
  CHECK(statuses == std::vector(4, 0));
}

// What the children of a test count together.
template <class T>
class shared {
public:
  shared()
    : at_(new(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T{}) {}
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() { ::munmap(at_, sizeof(T)); }
  T* operator->() { return at_; }

private:
  T* at_;
};

void check_start_together(int messages) {
  struct counters {
    std::array<std::atomic<int>, 1001> delivered; // by job id
    std::atomic<int> all;
  };
  constexpr int workers = 10, publishers = 2;
  temp_dir dir;
  auto path = dir / "store.db";
  wait_for(fork_child([&] {
    connection{path, {}};
    return 0;
  }));
  shared<counters> count;
  process_barrier start{workers + publishers};
  auto statuses = in_children(workers + publishers, [&](int child) {
    start.wait();
    connection db{path, relaxed};
    if (child >= workers) {
      for (int i = 0; i < messages; ++i) {
        transaction tx{db};
        jobs::enqueue(tx, q, "x");
        tx.commit();
      }
      return 0;
    }
    while (count->all < publishers * messages) {
      transaction take{db};
      auto found = claims::claim(take, q, std::to_string(child), 10);
      take.commit();
      if (found.empty()) {
        ::usleep(1000);
        continue;
      }
      for (auto& x : found)
        ++count->delivered.at(static_cast<size_t>(x.id));
      transaction settle{db};
      for (auto& x : found)
        claims::ack(settle, x.claim);
      settle.commit();
      count->all += static_cast<int>(found.size());
    }
    return 0;
  });
  CHECK(statuses == std::vector(workers + publishers, 0));
  auto once = 0;
  for (auto& x : count->delivered)
    once += x == 1;
  CHECK(once == publishers * messages);
  CHECK(count->all == publishers * messages);
}

} // namespace

TEST_CASE("H50: four processes that read and write all the time never see a "
          "lock, and begin each write with the write lock") {
  check_neighbours(50);
}

TEST_CASE("H50: the same over 10,000 operations a process", "[slow]") {
  check_neighbours(2000);
}

TEST_CASE("H54: ten workers and two publishers that start at once deliver "
          "each of 1000 messages once, and none meets a lock") {
  check_start_together(500);
}
