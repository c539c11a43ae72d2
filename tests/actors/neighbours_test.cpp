// What the writer knows of the other connections that write.
#include "actors/neighbours.hpp"

#include "tests/catch.hpp"

using namespace alkstore;
using namespace std::chrono_literals;

TEST_CASE(
  "A neighbour is busy for 2 ms after its commit, and at work for 1 s") {
  neighbours others;
  steady_time now{1h};
  CHECK_FALSE(others.at_work(now));
  others.seen(now);
  CHECK(others.busy(now + 1ms));
  CHECK_FALSE(others.busy(now + 2ms));
  CHECK(others.at_work(now + 999ms));
  CHECK_FALSE(others.at_work(now + 1s));
}

TEST_CASE("A neighbour's commit is looked for ever less often, and for 5 s") {
  neighbours others;
  steady_time now{1h};
  CHECK_FALSE(others.next_look(now));
  others.begun(now);
  for (auto expected : {500us, 1000us, 2000us, 4000us, 8000us, 16000us, 32000us,
                        50000us, 50000us})
    CHECK(others.next_look(now + 4999ms) == expected);
  CHECK_FALSE(others.next_look(now + 5s));
  others.begun(now + 5s);
  CHECK(others.next_look(now + 5s) == 500us);
}

TEST_CASE("The lock is tried for again after 0.2 to 0.8 ms") {
  neighbours others;
  for (int i = 0; i < 1000; ++i) {
    auto pause = others.until_next_try();
    CHECK((pause >= 200us && pause <= 800us));
  }
}
