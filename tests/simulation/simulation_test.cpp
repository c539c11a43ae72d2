// 200 seeds of the simulation, and that a seed can be relied on.
#include "tests/catch.hpp"
#include "tests/simulation/world.hpp"

using namespace alkstore::sim;

namespace {

void run_fifty(uint64_t first) {
  for (auto seed = first; seed < first + 50; ++seed) {
    auto x = run_seed(seed);
    for (auto& line : x.last_lines)
      UNSCOPED_INFO(line);
    UNSCOPED_INFO("./dev sim --seeds 1 --seed " << seed);
    REQUIRE(x.violation == "");
    CHECK(x.commits > 100);
  }
}

} // namespace

TEST_CASE("The same seed of the simulation runs the same way, to the last "
          "message") {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    auto one = run_seed(seed);
    auto two = run_seed(seed);
    CHECK(one.hash == two.hash);
    CHECK(one.steps == two.steps);
    CHECK(one.faults == two.faults);
    CHECK(one.hash != run_seed(seed + 100).hash);
  }
}

TEST_CASE("Whatever goes wrong at once, all rules hold: seeds 1 to 50") {
  run_fifty(1);
}

TEST_CASE("Whatever goes wrong at once, all rules hold: seeds 51 to 100") {
  run_fifty(51);
}

TEST_CASE("Whatever goes wrong at once, all rules hold: seeds 101 to 150") {
  run_fifty(101);
}

TEST_CASE("Whatever goes wrong at once, all rules hold: seeds 151 to 200") {
  run_fifty(151);
}

TEST_CASE(
  "A rollback that finds no memory does not keep the lock: two seeds of "
  "the simulation") {
  CHECK(run_seed(786).violation == "");
  CHECK(run_seed(825).violation == "");
}
