#include "tests/actors/fixture.hpp"

#include "actors/substrate_reader.hpp"

using namespace alkstore;
using namespace alkstore::test;

TEST_CASE("S14: outbox_enqueue stamps 60 s, 5 attempts and 5 s") {
  system_fixture t;
  auto writer = spawn_writer(t.sys, t.store_options());
  auto reader = spawn_reader(t.sys, t.store_options());
  auto id = t.ask<int64_t>(writer, outbox_enqueue{"mail", "hello", {}});
  auto found = t.ask<job>(reader, get_job{id});
  CHECK(found.visibility_timeout == std::chrono::seconds{60});
  CHECK(found.max_attempts == 5);
  CHECK(found.backoff_base == std::chrono::seconds{5});
  CHECK(found.payload == "hello");
  t.ask<completed>(writer, stop{});
  CHECK(t.wait_end(writer) == caf::exit_reason::normal);
  caf::anon_send_exit(reader, caf::exit_reason::user_shutdown);
}
