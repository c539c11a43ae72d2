// What other hosts get: the six operations, and the store's own errors.
#include "actors/client_gateway.hpp"

#include "tests/actors/fixture.hpp"

using namespace alkstore;
using namespace alkstore::test;

namespace {

struct published : system_fixture {
  runtime_actor runtime;
  client_actor client;

  published() {
    runtime_options options;
    options.store = store_options();
    runtime = start(sys, std::move(options));
    client = spawn_client_gateway(sys, runtime);
  }

  ~published() {
    caf::anon_send_exit(client, caf::exit_reason::kill);
    caf::anon_send_exit(runtime, caf::exit_reason::kill);
  }
};

} // namespace

TEST_CASE("A client enqueues, schedules and looks through the gateway") {
  published t;
  auto id = t.ask<int64_t>(t.client, enqueue{"q", "payload", {}});
  CHECK(t.ask<job>(t.client, get_job{id}).payload == "payload");
  t.ask<int64_t>(t.client, outbox_enqueue{"mail", "x", {}});
  auto stats = t.ask<std::vector<jobs::queue_stats>>(t.client, get_stats{});
  REQUIRE(stats.size() == 2);
  CHECK(stats[1].queue == "q");
  CHECK(stats[1].waiting == 1);
  auto made = t.ask<schedule>(
    t.client, add_schedule{{"daily", "@every 1d", "q", "", {}}});
  CHECK(made.name == "daily");
  CHECK(t.ask<bool>(t.client, remove_schedule{"daily"}));
  CHECK_FALSE(t.ask<bool>(t.client, remove_schedule{"daily"}));
}

TEST_CASE("A client gets the store's own errors") {
  published t;
  CHECK(t.ask_error<int64_t>(t.client, enqueue{"__alkstore_x", "", {}})
        == errc::reserved_name);
  CHECK(t.ask_error<job>(t.client, get_job{99}) == errc::not_found);
}

TEST_CASE("The gateway follows the store through a restart") {
  published t;
  auto before = t.ask<store_handles>(t.runtime, get_store{});
  caf::anon_send_exit(before.store, caf::exit_reason::kill);
  t.events.wait_for("died", 1, "substrate_writer");
  t.wait_gone(before.store);
  for (int i = 0; i < 200; ++i) {
    if (t.try_ask<int64_t>(t.client, enqueue{"q", "x", {}}).value)
      break;
    t.let_pass(50ms); // until it is open again
  }
  t.ask<int64_t>(t.client, enqueue{"q", "x", {}});
}

TEST_CASE("A client is told when the store has ended") {
  published t;
  t.ask<completed>(t.runtime, stop{});
  t.wait_gone(t.runtime);
  CHECK_FALSE(
    t.try_ask<int64_t>(t.client, enqueue{"q", "x", {}}).value.has_value());
}
