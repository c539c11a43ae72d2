// A power cut at the moment of an answer.
#include "tests/actors/fixture.hpp"
#include "tests/substrate/lossy_disk.hpp"
#include "tests/support/rounds.hpp"

#include <random>
#include <set>

using namespace alkstore;
using namespace alkstore::test;

TEST_CASE("S22, H63: what the writer answered is there after a power cut at "
          "that moment") {
  lossy_disk disk;
  store_fixture t{[](writer_options& o) { o.open.sync = durability::full; }};
  std::minstd_rand random{std::random_device{}()};
  std::set<int64_t> expected;
  for (int cut = 0; cut < rounds(30, 300); ++cut) {
    // Some share a commit, and one more may be on its way.
    for (auto& x : t.ask_all<int64_t>(
           t.writer, std::vector<enqueue>(1 + random() % 20, {"q", "x", {}})))
      expected.insert(x.value.value());
    if (cut % 3 == 0) {
      auto done = t.claim(5);
      for (auto& x : t.settle_all(done))
        REQUIRE(x == errc{});
      for (auto& x : done)
        expected.erase(x.id);
    }
    port::send(t.self, t.writer, cancel_job{0});
    auto copy = t.dir.path("after-" + std::to_string(cut) + ".db");
    disk.cut_power(t.path(), copy, lossy_disk::unsynced::none, 0);
    connection after{copy, {.sync = durability::normal}};
    transaction tx{after, transaction::access::read};
    std::set<int64_t> found;
    for (auto& x : jobs::list(tx, queue_name::plain("q"), 0, 100'000))
      found.insert(x.id);
    REQUIRE(found == expected);
  }
}
