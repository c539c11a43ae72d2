#include "actors/fault_log.hpp"

#include "testing/event_log.hpp"
#include "tests/catch.hpp"

using namespace alkstore;
using namespace std::chrono_literals;

namespace {

struct manual_clock final : alkstore::clock {
  timestamp wall_now() const override { return {}; }
  steady_time steady_now() const override { return now; }
  steady_time now{1h};
};

} // namespace

TEST_CASE("H58: a fault that comes again and again is reported every ten "
          "seconds, with how often it came") {
  manual_clock time;
  testing::event_log events;
  fault_log log{"writer", time, events.sink()};
  auto texts = [&] {
    std::vector<std::string> out;
    for (auto& x : events.all())
      out.push_back(x.text);
    return out;
  };
  for (int i = 0; i < 40; ++i) {
    log.add("disk full");
    time.now += 250ms;
  }
  CHECK(texts() == std::vector<std::string>{"disk full"});
  log.add("disk full");
  CHECK(texts().back() == "disk full; 39 more since the last line");
  log.add("no memory");
  log.add("disk full");
  CHECK(texts().size() == 4);
  CHECK(texts().back() == "disk full");
}
