// The runtime: start, supervision, stop.
#include "actors/callback_handler.hpp"
#include "testing/fake_delivery.hpp"
#include "tests/actors/cpu_time.hpp"
#include "tests/actors/faulty_disk.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"

#include <random>

using namespace alkstore;
using namespace alkstore::test;
using testing::fake_delivery;

namespace {

struct runtime_fixture : system_fixture {
  runtime_options options() {
    runtime_options out;
    out.store = store_options();
    out.lease = {1500ms, 500ms};
    return out;
  }

  store_handles handles(const runtime_actor& of) {
    auto start = clock::system().steady_now();
    for (;;) {
      auto got = try_ask<store_handles>(of, get_store{});
      if (got.value)
        return *got.value;
      REQUIRE(got.code == errc::busy);
      REQUIRE(clock::system().steady_now() - start < patience);
      let_pass(10ms);
    }
  }

  void stop_it(const runtime_actor& x) {
    ask<completed>(x, stop{});
    CHECK(wait_end(x) == caf::exit_reason::normal);
  }

  lease leadership() {
    auto db = connection{path(), {.read_only = true}};
    transaction tx{db, transaction::access::read};
    return leases::get(tx, leases::scheduler).value_or(lease{});
  }
};

job_options retry_after(millis by) {
  job_options out;
  out.backoff_base = by;
  return out;
}

/// A handler that does not survive the payload "poison".
class mortal_handler final : public handler_actor::base {
public:
  using handler_actor::base::base;

protected:
  behavior_type make_behavior() override {
    return {
      [](const delivery& x) {
        if (x.what.payload == "poison")
          throw std::runtime_error{"poisoned"};
        return verdict::delivered();
      },
      [](const claim_lapsed&) {},
    };
  }
};

handler_actor spawn_mortal(caf::actor_system& sys) {
  return sys.spawn<mortal_handler>();
}

} // namespace

TEST_CASE("A runtime starts, fires, delivers, and stops in good order") {
  runtime_fixture t;
  fake_delivery work, mail;
  auto options = t.options();
  options.schedules = {{"s", "@every 1s", "q", "from s", {}}};
  options.queues.push_back({"q", work.handler(verdict::delivered()), {}, 2, 4});
  options.queues.push_back({"fwd", {}, "mail", 8, 8});
  options.outboxes.push_back({"mail", mail.handler(verdict::delivered()), 2});
  auto node = start(t.sys, options);
  auto store = t.handles(node).store;
  t.ask<int64_t>(store, enqueue{"fwd", "x", {}});
  mail.wait_started(1);
  t.events.wait_for("fired");
  work.wait_started(1);
  t.stop_it(node);
  CHECK(t.leadership().owner.empty());
  CHECK(t.events.count("store fault") == 0);
  CHECK(std::filesystem::file_size(t.path() + "-wal") == 0);
}

TEST_CASE("What is wrong with the options is thrown at the start, and the "
          "actor system still ends") {
  runtime_fixture t;
  auto code = [&](const std::function<void(runtime_options&)>& change) {
    auto options = t.options();
    change(options);
    try {
      start(t.sys, options);
    } catch (const failure& why) {
      return why.code();
    }
    return errc{};
  };
  CHECK(code([&](auto& x) { x.store.path = t.dir.path("none/x.db"); })
        == errc::io_error);
  CHECK(code([](auto& x) {
          x.schedules.push_back({"s", "@every 5", "q", "x", {}});
        })
        == errc::invalid_spec);
  CHECK(code([](auto& x) { x.queues.push_back({"a b", {}, "m", 8, 8}); })
        == errc::invalid_name);
  CHECK(code([](auto& x) { x.queues.push_back({"q", {}, "__alkstore", 8, 8}); })
        == errc::reserved_name);
  CHECK(code([](auto& x) { x.queues.push_back({"q", {}, {}, 8, 8}); })
        == errc::invalid_name);
  CHECK(code([](auto& x) { x.outboxes.push_back({"", {}, 8}); })
        == errc::invalid_name);
}

TEST_CASE("A stop right after the start, twenty times, never hangs") {
  for (int i = 0; i < 20; ++i) {
    runtime_fixture t;
    fake_delivery table;
    auto options = t.options();
    options.queues.push_back(
      {"q", table.handler(verdict::delivered()), {}, 1, 1});
    auto node = start(t.sys, options);
    if (i % 4 == 1)
      port::send(t.self, node, stop_now{});
    if (i % 4 == 2) {
      caf::anon_send_exit(node, caf::exit_reason::kill);
      t.wait_gone(node);
      continue;
    }
    if (i % 4 == 3)
      t.events.wait_for("leading");
    t.try_ask<completed>(node, stop{});
    t.wait_gone(node);
  }
}

TEST_CASE("H70: pending timers do not delay a stop") {
  runtime_fixture t;
  fake_delivery table;
  auto options = t.options();
  options.lease = {}; // renewed after 5 s
  options.schedules = {{"s", "@every 1h", "q", "x", {}},
                       {"m", "@every 60s", "q", "x", {}}};
  options.queues.push_back({"q", table.held(), {}, 8, 8});
  auto node = start(t.sys, options);
  auto store = t.handles(node).store;
  job_options later;
  later.delay = 1h;
  t.ask<int64_t>(store, enqueue{"q", "x", later});
  t.ask<int64_t>(store, enqueue{"q", "x", retry_after(1h)});
  table.next().conclude(verdict::failed("in an hour"));
  t.events.wait_for("failed");
  t.events.wait_for("leading");
  auto begin = clock::system().steady_now();
  t.stop_it(node);
  CHECK(since(begin) < 500ms);
}

TEST_CASE("S26, H66: a stop lets a delivery in flight finish, claims nothing "
          "new and leaves the rest untouched") {
  runtime_fixture t;
  fake_delivery table;
  auto options = t.options();
  options.outboxes.push_back({"mail", table.held(), 1});
  auto node = start(t.sys, options);
  auto store = t.handles(node).store;
  for (int i = 0; i < 20; ++i)
    t.ask<int64_t>(store, outbox_enqueue{"mail", "m", {}});
  auto running = table.next();
  auto stopped = port::ask(t.self, patience, node, stop{});
  t.let_pass(200ms);
  running.conclude(verdict::delivered());
  auto done = false;
  std::move(stopped).receive([&](completed) { done = true; },
                             [](const caf::error&) {});
  CHECK(done);
  CHECK(t.wait_end(node) == caf::exit_reason::normal);
  CHECK(table.started() == 1);
  neighbour other{t.path()};
  CHECK(other.jobs() == 19);
  CHECK(other.number("SELECT sum(attempts) + sum(claimed) FROM alkstore_jobs")
        == 0);
}

TEST_CASE("H66: the end of the grace period, or a second signal, cuts what is "
          "in flight and leaves its claim") {
  runtime_fixture t;
  fake_delivery table;
  auto options = t.options();
  auto signalled = GENERATE(false, true);
  options.stop_grace = signalled ? 1min : 300ms;
  options.outboxes.push_back({"mail", table.held(), 1});
  auto node = start(t.sys, options);
  t.ask<int64_t>(t.handles(node).store, outbox_enqueue{"mail", "m", {}});
  auto running = table.next();
  t.events.wait_for("leading"); // a cut campaign would leave its lease
  auto begin = clock::system().steady_now();
  auto stopped = port::ask(t.self, patience, node, stop{});
  if (signalled)
    port::send(t.self, node, stop_now{});
  auto done = false;
  std::move(stopped).receive([&](completed) { done = true; },
                             [](const caf::error&) {});
  CHECK(done);
  CHECK(since(begin) < 2s);
  CHECK(t.wait_end(node) == caf::exit_reason::normal);
  t.events.wait_for("cut", 1, "outbox_delivery mail");
  running.conclude(verdict::delivered()); // too late, and harmless
  neighbour other{t.path()};
  CHECK(other.number("SELECT claimed FROM alkstore_jobs") == 1);
  CHECK(t.leadership().owner.empty());
}

TEST_CASE("A stop while another process holds the write lock waits for it, and "
          "ends") {
  runtime_fixture t;
  auto node = start(t.sys, t.options());
  t.events.wait_for("leading");
  neighbour other{t.path()};
  other.hold();
  auto stopped = port::ask(t.self, patience, node, stop{});
  t.let_pass(500ms);
  other.let_go();
  auto done = false;
  std::move(stopped).receive([&](completed) { done = true; },
                             [](const caf::error&) {});
  CHECK(done);
  CHECK(t.leadership().owner.empty());
}

TEST_CASE("H69: an actor that cannot be started is tried five times with "
          "growing pauses, then the runtime ends and names it") {
  runtime_fixture t;
  auto options = t.options();
  std::mutex guard;
  std::vector<steady_time> tries;
  options.outboxes.push_back({"mail",
                              [&](caf::actor_system&) -> handler_actor {
                                std::lock_guard lock{guard};
                                tries.push_back(clock::system().steady_now());
                                throw std::runtime_error{"no such program"};
                              },
                              1});
  auto node = start(t.sys, options);
  auto why = t.wait_end(node);
  CHECK(code_of(why) == errc::failed);
  CHECK(sentence(t.sys, why).find("outbox_delivery mail") != std::string::npos);
  CHECK(sentence(t.sys, why).find("no such program") != std::string::npos);
  REQUIRE(tries.size() == 5);
  auto at = [&](size_t i) { return tries[i] - tries[0]; };
  for (auto [i, expected] :
       {std::pair{1, 100ms}, {2, 300ms}, {3, 700ms}, {4, 1500ms}}) {
    CHECK(at(static_cast<size_t>(i)) >= expected);
    CHECK(at(static_cast<size_t>(i)) < expected + 150ms);
  }
  CHECK(t.events.count("died") == 4);
  CHECK(t.events.count("given up") == 1);
  CHECK(t.leadership().owner.empty());
}

TEST_CASE("Jobs that kill their handler become dead letters, and neither the "
          "others nor the runtime suffer") {
  runtime_fixture t;
  auto options = t.options();
  options.queues.push_back({"q", spawn_mortal, {}, 4, 4});
  auto node = start(t.sys, options);
  auto store = t.handles(node).store;
  for (int i = 0; i < 5; ++i) {
    t.ask<int64_t>(store, enqueue{"q", "poison", retry_after(1ms)});
    t.ask<int64_t>(store, enqueue{"q", "good", retry_after(1ms)});
  }
  t.events.wait_for("dead", 5);
  t.events.wait_for("delivered", 5);
  neighbour other{t.path()};
  CHECK(
    other.number("SELECT count(*) FROM alkstore_dead WHERE attempts = 3 AND "
                 "last_error LIKE 'the handler has ended%'")
    == 5);
  t.events.wait_for("died", 15);
  CHECK(t.events.count("given up") == 0);
  t.stop_it(node);
}

TEST_CASE(
  "H69: a handler that ends by itself again and again ends the runtime, "
  "whatever its reason") {
  runtime_fixture t;
  auto options = t.options();
  options.restarts = {10ms, 20ms, 5, 60s};
  auto short_lived = [](caf::actor_system& sys) {
    auto made = spawn_mortal(sys);
    port::send_error(made, make_error(errc::failed, "no work for me"));
    return made;
  };
  options.queues.push_back({"q", short_lived, {}, 4, 4});
  auto node = start(t.sys, options);
  CHECK(code_of(t.wait_end(node)) == errc::failed);
  CHECK(t.events.count("died") == 4);
  CHECK(t.events.count("given up") == 1);
}

TEST_CASE("H71, H72, H75: after the writer's death callers have an error at "
          "once, everything runs again, and every timer once") {
  runtime_fixture t;
  fake_delivery table;
  auto options = t.options();
  options.restarts = {10ms, 20ms, 1000, 60s};
  options.schedules = {{"s", "@every 1s", "fired", "x", {}}};
  options.queues.push_back(
    {"q", table.handler(verdict::delivered()), {}, 4, 4});
  auto node = start(t.sys, options);
  neighbour other{t.path()};
  std::vector<millis> took;
  for (int life = 1; life <= 10; ++life) {
    auto store = t.handles(node).store;
    other.hold();
    auto open = port::ask(t.self, patience, store, enqueue{"lost", "x", {}});
    auto begin = clock::system().steady_now();
    caf::anon_send_exit(store, caf::exit_reason::kill);
    auto refused = false;
    std::move(open).receive([](int64_t) {},
                            [&](const caf::error& why) {
                              refused = why != caf::sec::request_timeout;
                            });
    CHECK(refused);
    took.push_back(since(begin));
    other.let_go();
    // A consumer may have noticed first, and be reported, too.
    t.events.wait_for("died", static_cast<size_t>(life), "substrate_writer");
    t.ask<int64_t>(t.handles(node).store, enqueue{"q", "x", {}});
    table.wait_started(life);
  }
  CHECK(median(took) < 100ms);
  CHECK(other.number("SELECT count(*) FROM alkstore_jobs WHERE queue = 'lost'")
        == 0);
  t.events.wait_for("fired", t.events.count("fired") + 1);
  auto before = t.events.count("fired");
  t.let_pass(3s);
  auto fired = t.events.count("fired") - before;
  CHECK(fired >= 2);
  CHECK(fired <= 4);
  CHECK(other.number("SELECT count(*) - count(DISTINCT fire_at)"
                     " FROM alkstore_jobs WHERE queue = 'fired'")
        == 0);
  CHECK(table.started() == 10);
  t.stop_it(node);
}

TEST_CASE("H71: the reader's death starts the store anew, too") {
  runtime_fixture t;
  auto node = start(t.sys, t.options());
  auto first = t.handles(node);
  auto id = t.ask<int64_t>(first.store, enqueue{"q", "x", {}});
  caf::anon_send_exit(first.reader, caf::exit_reason::kill);
  t.events.wait_for("died", 1, "substrate_writer");
  CHECK(t.ask<job>(t.handles(node).reader, get_job{id}).id == id);
  t.wait_gone(first.store);
  t.stop_it(node);
}

TEST_CASE("H69: while the file cannot be opened the runtime tries with pauses "
          "and not in a busy loop") {
  faulty_disk disk;
  runtime_fixture t;
  auto options = t.options();
  options.restarts = {50ms, 400ms, 100, 60s};
  std::atomic<bool> broken{true};
  fake_delivery table;
  auto good = table.handler(verdict::delivered());
  options.queues.push_back({"q",
                            [&](caf::actor_system& sys) -> handler_actor {
                              if (broken)
                                throw std::runtime_error{"not yet"};
                              return good(sys);
                            },
                            {},
                            1,
                            1});
  auto node = start(t.sys, options);
  auto store = t.handles(node).store;
  t.events.wait_for("died", 3); // the next try of the worker is due in 200 ms
  disk.fail(disk_op::open, SQLITE_CANTOPEN, 5);
  caf::anon_send_exit(store, caf::exit_reason::kill);
  t.events.wait_for("died", 3, "substrate_writer");
  auto before = cpu_time();
  auto refused = t.try_ask<store_handles>(node, get_store{});
  CHECK(refused.code == errc::busy);
  t.events.wait_for("died", 6, "substrate_writer");
  CHECK(cpu_time() - before < 300ms);
  broken = false;
  t.ask<int64_t>(t.handles(node).store, enqueue{"q", "x", {}});
  table.wait_started(1);
  t.stop_it(node);
}

TEST_CASE("A stop while the store is closed ends the runtime") {
  faulty_disk disk;
  runtime_fixture t;
  auto options = t.options();
  options.restarts = {5s, 5s, 100, 60s};
  auto node = start(t.sys, options);
  auto store = t.handles(node).store;
  caf::anon_send_exit(store, caf::exit_reason::kill);
  t.events.wait_for("died", 1, "substrate_writer");
  auto begin = clock::system().steady_now();
  t.stop_it(node);
  CHECK(since(begin) < 1s);
}

TEST_CASE("H61: a moved file ends the runtime with moved, and nothing is "
          "started again") {
  runtime_fixture t;
  auto node = start(t.sys, t.options());
  auto store = t.handles(node).store;
  t.ask<int64_t>(store, enqueue{"q", "x", {}});
  std::filesystem::rename(t.path(), t.path() + ".old");
  CHECK(code_of(t.wait_end(node)) == errc::moved);
  CHECK_FALSE(t.try_ask<int64_t>(store, enqueue{"q", "x", {}}).value);
  CHECK_FALSE(std::filesystem::exists(t.path()));
}

TEST_CASE("S7: after a lost leadership the node stands by and leads again") {
  runtime_fixture t;
  auto node = start(t.sys, t.options());
  t.events.wait_for("leading");
  neighbour other{t.path()};
  other.write([](transaction& tx) {
    return tx.run("UPDATE alkstore_locks SET owner = 'thief',"
                  " token = token + 1");
  });
  t.events.wait_for("leadership lost");
  t.events.wait_for("leading", 2);
  CHECK(t.events.count("died") == 0);
  t.stop_it(node);
}

TEST_CASE("H24: a handler that blocks its thread for two ttls costs no renewal "
          "and delays no tick") {
  runtime_fixture t;
  auto options = t.options();
  options.schedules = {{"s", "@every 1s", "fired", "x", {}}};
  options.queues.push_back(
    {"q",
     [](caf::actor_system& sys) {
       return spawn_callback_handler(
         sys, [](delivery, std::function<void(verdict)> conclude) {
           auto end = clock::system().steady_now() + 3s;
           while (clock::system().steady_now() < end) {
           }
           conclude(verdict::delivered());
         });
     },
     {},
     1,
     1});
  auto node = start(t.sys, options);
  t.events.wait_for("leading");
  t.ask<int64_t>(t.handles(node).store, enqueue{"q", "x", {}});
  t.events.wait_for("delivered");
  CHECK(t.events.count("leadership lost") == 0);
  for (auto& x : t.events.all())
    if (x.what == "fired")
      CHECK(x.took < 1s);
  CHECK(t.events.count("fired") >= 2);
  t.stop_it(node);
}

TEST_CASE("H09: two runtimes on one file: one leads, and a job goes to either "
          "once") {
  runtime_fixture t;
  fake_delivery one, two;
  auto options = t.options();
  options.queues.push_back({"q", one.handler(verdict::delivered()), {}, 2, 2});
  auto first = start(t.sys, options);
  t.events.wait_for("leading");
  options.queues[0].handler = two.handler(verdict::delivered());
  auto second = start(t.sys, options);
  auto store = t.handles(second).store;
  for (int i = 0; i < 200; ++i)
    t.ask<int64_t>(store, enqueue{"q", "x", {}});
  t.events.wait_for("delivered", 200);
  CHECK(one.started() + two.started() == 200);
  CHECK(t.events.count("leading") == 1);
  t.stop_it(first);
  t.events.wait_for("leading", 2);
  t.stop_it(second);
}

TEST_CASE("Pooled actors do the same as detached ones") {
  runtime_fixture t;
  fake_delivery table;
  auto options = t.options();
  options.where = placement::pooled;
  options.schedules = {{"s", "@every 1s", "q", "x", {}}};
  options.queues.push_back(
    {"q", table.handler(verdict::delivered()), {}, 2, 2});
  auto node = start(t.sys, options);
  t.events.wait_for("delivered", 2);
  t.stop_it(node);
}

TEST_CASE("H68: passing faults of every kind, in every operation, end nothing "
          "and lose nothing") {
  faulty_disk disk;
  runtime_fixture t;
  fake_delivery table;
  auto options = t.options();
  options.schedules = {{"s", "@every 1s", "fired", "x", {}}};
  std::atomic<int> tries{0};
  options.queues.push_back(
    {"q",
     [&](caf::actor_system& sys) {
       return spawn_callback_handler(
         sys, [&](delivery, std::function<void(verdict)> conclude) {
           conclude(++tries % 3 == 0 ? verdict::failed("now and then", 10ms)
                                     : verdict::delivered());
         });
     },
     {},
     2,
     4});
  auto node = start(t.sys, options);
  t.events.wait_for("leading");
  auto store = t.handles(node).store;
  job_options tenacious;
  tenacious.max_attempts = 1000;
  size_t accepted = 0;
  auto inject = [&](disk_op op, int code) {
    // Whatever write comes next meets it: claim, ack, retry, tick, renewal.
    for (int i = 0; i < 4; ++i) {
      if (t.try_ask<int64_t>(store, enqueue{"q", "x", tenacious}).value)
        ++accepted;
      disk.fail(op, code, 1, i);
      t.let_pass(30ms);
    }
    // Good commits in between: a disk that fails twice in a row is given up.
    t.events.wait_for("delivered", accepted);
  };
  inject(disk_op::lock, SQLITE_BUSY);
  inject(disk_op::write, SQLITE_FULL);
  inject(disk_op::write, SQLITE_IOERR_NOMEM);
  disk.fail(disk_op::write, SQLITE_IOERR_WRITE);
  t.try_ask<int64_t>(store, enqueue{"q", "x", tenacious});
  for (int i = 0; i < 5; ++i)
    if (t.try_ask<int64_t>(store, enqueue{"q", "x", tenacious}).value)
      ++accepted;
  t.events.wait_for("delivered", accepted);
  auto before = t.events.count("fired");
  t.events.wait_for("fired", before + 1);
  CHECK(t.events.count("died") == 0);
  CHECK(disk.failed() > 5);
  CHECK(t.events.count("store fault")
        <= static_cast<size_t>(disk.failed()) * 2);
  t.stop_it(node);
  neighbour other{t.path()};
  CHECK(other.number("SELECT count(*) FROM alkstore_jobs WHERE queue = 'q'")
        == 0);
}

TEST_CASE("H68, H71: whatever dies, fails or is held up, every accepted job is "
          "handled in the end") {
  faulty_disk disk;
  runtime_fixture t;
  fake_delivery table;
  auto options = t.options();
  options.restarts = {5ms, 20ms, 1000, 60s};
  options.lease = {600ms, 200ms};
  options.queues.push_back(
    {"q", table.handler(verdict::delivered()), {}, 2, 6});
  auto node = start(t.sys, options);
  neighbour other{t.path()};
  std::minstd_rand random{7};
  auto dice = [&](int sides) {
    return std::uniform_int_distribution<int>{1, sides}(random);
  };
  job_options how;
  how.max_attempts = 1000;
  how.visibility_timeout = 700ms; // what a dead consumer held comes back
  how.backoff_base = 1ms;
  std::vector<int64_t> accepted;
  for (int round = 0; round < 60; ++round) {
    auto now = t.handles(node);
    auto one = dice(8);
    if (one == 1)
      caf::anon_send_exit(now.store, caf::exit_reason::kill);
    else if (one == 2)
      caf::anon_send_exit(now.reader, caf::exit_reason::kill);
    else if (one <= 4)
      disk.fail(disk_op::write, one == 3 ? SQLITE_FULL : SQLITE_IOERR_WRITE, 1,
                dice(5) - 1);
    else if (one == 5)
      other.hold();
    for (int i = 0; i < 5; ++i) {
      auto got = port::ask(t.self, one == 5 ? 20ms : 2s, now.store,
                           enqueue{"q", "x", how});
      std::move(got).receive([&](int64_t id) { accepted.push_back(id); },
                             [](const caf::error&) {});
    }
    other.let_go();
    t.let_pass(millis{dice(20)});
  }
  auto left = [&] {
    return other.number("SELECT count(*) FROM alkstore_jobs"
                        " WHERE queue = 'q'");
  };
  auto begin = clock::system().steady_now();
  while (left() > 0 && since(begin) < 15s)
    t.let_pass(20ms);
  CHECK(left() == 0);
  CHECK(accepted.size() > 100);
  CHECK(other.number("SELECT count(*) FROM alkstore_dead") == 0);
  t.stop_it(node);
  CHECK(table.started() >= static_cast<int>(accepted.size()));
}
