// Handlers whose work is done elsewhere.
#include "actors/callback_handler.hpp"

#include "tests/actors/fixture.hpp"

#include <thread>

using namespace alkstore;
using namespace alkstore::test;

namespace {

using conclusion = std::function<void(verdict)>;

} // namespace

TEST_CASE("A callback may conclude at once, later from another thread, or "
          "twice") {
  system_fixture t;
  std::vector<std::thread> threads;
  auto handler = spawn_callback_handler(
    t.sys, [&](delivery x, conclusion conclude) {
      if (x.what.id == 1)
        return conclude(verdict::delivered());
      if (x.what.id == 2) {
        threads.emplace_back([conclude] {
          conclude(verdict::failed("from a thread", 7s));
          conclude(verdict::dead("a second time"));
        });
        return;
      }
      conclude(verdict::dead("third"));
    });
  auto deliver = [&](int64_t id) {
    delivery x;
    x.what.id = id;
    return t.ask<verdict>(handler, x);
  };
  CHECK(deliver(1).what == verdict::outcome::delivered);
  auto failed = deliver(2);
  CHECK(failed.what == verdict::outcome::failed);
  CHECK(failed.error == "from a thread");
  CHECK(failed.delay == 7s);
  CHECK(deliver(3).error == "third");
  CHECK(deliver(1).what == verdict::outcome::delivered);
  for (auto& x : threads)
    x.join();
  caf::anon_send_exit(handler, caf::exit_reason::user_shutdown);
}

TEST_CASE("A callback that throws is answered with its text, and the handler "
          "lives") {
  system_fixture t;
  auto handler = spawn_callback_handler(t.sys, [](delivery x, conclusion done) {
    if (x.what.id == 1)
      throw std::runtime_error{"no route"};
    done(verdict::delivered());
  });
  auto got = t.try_ask<verdict>(handler, delivery{});
  CHECK(got.value);
  delivery first;
  first.what.id = 1;
  got = t.try_ask<verdict>(handler, first);
  CHECK(got.code == errc::failed);
  CHECK(got.text == "no route");
  CHECK(t.try_ask<verdict>(handler, delivery{}).value);
  caf::anon_send_exit(handler, caf::exit_reason::user_shutdown);
}

TEST_CASE("A callback handler that ends answers what is open, and a "
          "conclusion that comes after it hurts nobody") {
  conclusion late;
  {
    system_fixture t;
    auto handler = spawn_callback_handler(
      t.sys,
      [&](delivery, conclusion conclude) { late = std::move(conclude); });
    auto open = port::ask(t.self, patience, handler, delivery{});
    caf::anon_send_exit(handler, caf::exit_reason::kill);
    auto refused = false;
    std::move(open).receive([](verdict&) {},
                            [&](const caf::error&) { refused = true; });
    CHECK(refused);
    if (late)
      late(verdict::delivered());
    late = nullptr;
  }
}
