// A power cut at any instant: what was not synced is gone, or half there.
#include "tests/substrate/fixture.hpp"
#include "tests/substrate/lossy_disk.hpp"

#include <array>
#include <random>
#include <set>

using namespace alkstore;

namespace {

using unsynced = lossy_disk::unsynced;

// A store that works at random, and what was answered with success.
class worker {
public:
  worker(const std::string& path, durability sync, uint32_t seed)
    : db_(path, {.sync = sync}), random_(seed) {}

  void work() {
    switch (random_() % 8) {
      case 0: db_.checkpoint(connection::checkpoint_mode::passive); break;
      case 1: db_.checkpoint(connection::checkpoint_mode::truncate); break;
      case 2:
      case 3: finish_one(); break;
      default: enqueue();
    }
  }

  const std::set<int64_t>& there() const { return there_; }
  const std::set<int64_t>& gone() const { return gone_; }

private:
  void enqueue() {
    transaction tx{db_};
    auto id = jobs::enqueue(tx, q, std::string(random_() % 9000, 'x'));
    tx.commit();
    there_.insert(id);
  }

  void finish_one() {
    transaction tx{db_};
    auto found = claims::claim(tx, q, "w", 1);
    for (auto& x : found)
      claims::ack(tx, x.claim);
    tx.commit();
    for (auto& x : found) {
      there_.erase(x.id);
      gone_.insert(x.id);
    }
  }

  connection db_;
  std::minstd_rand random_;
  std::set<int64_t> there_, gone_;
};

struct losses {
  int missing = 0; ///< enqueued with success, and not there
  int back = 0;    ///< acked with success, and there again
  int damaged = 0; ///< files that are not whole
};

void count(const std::string& path, const worker& expected, losses& lost) {
  connection db{path, {}};
  auto whole = db.sql("PRAGMA integrity_check");
  whole.step();
  lost.damaged += whole.bytes(0) != "ok";
  std::set<int64_t> found;
  auto rows = db.sql("SELECT j.id FROM alkstore_jobs j"
                     " JOIN alkstore_payloads p ON p.job_id = j.id");
  while (rows.step())
    found.insert(rows.integer(0));
  for (auto id : expected.there())
    lost.missing += !found.contains(id);
  for (auto id : expected.gone())
    lost.back += found.contains(id);
}

losses cut_again_and_again(durability sync, int cuts, uint32_t seed) {
  temp_dir dir;
  losses lost;
  std::minstd_rand random{seed};
  for (int store = 0; store * 20 < cuts; ++store) {
    lossy_disk disk;
    auto path = dir / ("store-" + std::to_string(store)).c_str();
    worker at_work{path, sync, static_cast<uint32_t>(random())};
    for (int cut = 0; cut < 20; ++cut) {
      for (auto i = random() % 15; i > 0; --i)
        at_work.work();
      auto copy = path + "-after-" + std::to_string(cut);
      auto fate = std::array{unsynced::none, unsynced::some,
                             unsynced::all}[random() % 3];
      disk.cut_power(path, copy, fate, static_cast<uint32_t>(random()));
      count(copy, at_work, lost);
    }
  }
  return lost;
}

} // namespace

TEST_CASE("H63: with synchronous = full a power cut takes nothing back that "
          "was answered with success") {
  auto seed = std::random_device{}();
  CAPTURE(seed);
  auto lost = cut_again_and_again(durability::full, 60, seed);
  CHECK(lost.missing == 0);
  CHECK(lost.back == 0);
  CHECK(lost.damaged == 0);
}

TEST_CASE("H63: with synchronous = normal it can take the last commits, and "
          "never damages the file") {
  auto seed = std::random_device{}();
  CAPTURE(seed);
  auto lost = cut_again_and_again(durability::normal, 60, seed);
  CHECK(lost.missing + lost.back > 0); // and so the disk does forget
  CHECK(lost.damaged == 0);
}

TEST_CASE("H63: both over 2000 power cuts", "[slow]") {
  auto seed = std::random_device{}();
  CAPTURE(seed);
  auto strict = cut_again_and_again(durability::full, 2000, seed);
  CHECK(strict.missing + strict.back + strict.damaged == 0);
  CHECK(cut_again_and_again(durability::normal, 2000, seed).damaged == 0);
}
