// What alkstore/testing.hpp offers to applications.
#include "testing/testing.hpp"

#include "tests/actors/fixture.hpp"

using namespace alkstore;
using namespace alkstore::test;
using testing::fake_delivery;

namespace {

struct driven : private temp_dir {
  testing::test_driver driver;
  test_config config;
  caf::actor_system sys{config};
  fake_delivery work;
  runtime_actor runtime;

  driven() {
    runtime_options options;
    options.store.path = path("store.db");
    options.schedules.push_back({"hourly", "@every 1h", "q", "tick", {}});
    options.queues.push_back({"q", work.handler(), "", 1, 1});
    options.outboxes.push_back({"mail", work.handler(), 1});
    driver.prepare(options);
    runtime = start(sys, options);
    driver.drive(sys, runtime);
  }

  ~driven() { caf::anon_send_exit(runtime, caf::exit_reason::kill); }

  int64_t send(const std::string& payload) {
    caf::scoped_actor self{sys};
    int64_t id = 0;
    port::ask(self, patience, driver.handles().store,
              outbox_enqueue{"mail", payload, {}})
      .receive([&](int64_t x) { id = x; }, [](const caf::error&) {});
    REQUIRE(id > 0);
    return id;
  }
};

} // namespace

TEST_CASE("Under the test driver a schedule fires when the test turns the "
          "clock, and only then") {
  driven t;
  t.driver.run_until_idle();
  CHECK(t.work.started() == 0);
  t.driver.advance(59min);
  t.driver.run_until_idle();
  CHECK(t.work.started() == 0);
  t.driver.advance(2h + 1min);
  t.driver.run_until_idle();
  CHECK(t.work.started() == 3);
  CHECK(t.work.next().what.payload == "tick");
}

TEST_CASE("Under the test driver a delivery fails as its script says, and its "
          "retry is due when the clock was turned") {
  driven t;
  t.work.then(verdict::failed("not now")).then(verdict::failed("nor now"));
  auto id = t.send("hello");
  auto waiting = t.driver.wait_for_job(id);
  REQUIRE(waiting);
  CHECK(waiting->state == job_state::waiting);
  CHECK(waiting->last_error == "not now");
  CHECK(waiting->run_at == t.driver.clock.wall_now() + 5s);
  t.driver.advance(5s);
  CHECK(t.driver.wait_for_job(id)->attempts == 2);
  t.driver.advance(10s);
  CHECK_FALSE(t.driver.wait_for_job(id));
  CHECK(t.work.started() == 3);
}

TEST_CASE("Under the test driver a job that is dead is at rest, with its "
          "error") {
  driven t;
  t.work.then(verdict::dead("refused"));
  auto dead = t.driver.wait_for_job(t.send("hello"));
  REQUIRE(dead);
  CHECK(dead->state == job_state::dead);
  CHECK(dead->last_error == "refused");
}
