// outbox_delivery, queue_worker and queue_forwarder on a real store.
#include "actors/callback_handler.hpp"
#include "actors/outbox_delivery.hpp"
#include "actors/queue_worker.hpp"
#include "testing/fake_delivery.hpp"
#include "tests/actors/faulty_disk.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"

#include <set>

using namespace alkstore;
using namespace alkstore::test;
using testing::fake_delivery;

namespace {

struct consumer_fixture : store_fixture {
  using store_fixture::store_fixture;

  ~consumer_fixture() {
    for (auto& x : consumers)
      caf::anon_send_exit(x, caf::exit_reason::kill);
  }

  consumer_options setup(const char* name, int concurrency, int credit,
                         const char* worker = "w") {
    return {name, worker, concurrency, credit, options.time, events.sink()};
  }

  consumer_actor work(const handler_factory& handler, int concurrency = 1,
                      int credit = 1, const char* worker = "w") {
    return consumers.emplace_back(spawn_queue_worker(
      sys, setup("q", concurrency, credit, worker), handler, writer, reader));
  }

  consumer_actor deliver(const char* name, const handler_factory& handler,
                         int concurrency = 8) {
    return consumers.emplace_back(spawn_outbox_delivery(
      sys, setup(name, concurrency, concurrency), handler, writer, reader));
  }

  void enqueue_several(size_t count, const job_options& how = {}) {
    ask<std::vector<int64_t>>(writer, enqueue_many{std::vector<enqueue>(
                                        count, enqueue{"q", "x", how})});
  }

  std::vector<consumer_actor> consumers;
  fake_delivery table;
};

job_options attempts(int count, millis backoff = 1ms) {
  job_options out;
  out.max_attempts = count;
  out.backoff_base = backoff;
  return out;
}

job_options visible(millis timeout) {
  job_options out;
  out.visibility_timeout = timeout;
  return out;
}

/// A handler that is told of lapsed claims, and dies on demand.
class attentive_handler final : public handler_actor::base {
public:
  attentive_handler(caf::actor_config& cfg, event_sink report, bool throws)
    : handler_actor::base(cfg), report_(std::move(report)), throws_(throws) {}

  void on_exit() override { open_.clear(); }

protected:
  behavior_type make_behavior() override {
    return {
      [this](delivery& x) -> caf::result<verdict> {
        tell("started", x.what.id);
        if (throws_)
          throw std::runtime_error{"a handler's own fault"};
        open_.push_back(make_response_promise<verdict>());
        return open_.back();
      },
      [this](const claim_lapsed& x) {
        tell("told of the lapse", x.claim.job);
        for (auto& promise : open_)
          promise.deliver(verdict::delivered()); // too late
        open_.clear();
      },
    };
  }

private:
  void tell(const char* what, int64_t job) {
    event out;
    out.what = what;
    out.job = job;
    report_(out);
  }

  event_sink report_;
  bool throws_;
  std::vector<caf::typed_response_promise<verdict>> open_;
};

handler_factory attentive(event_sink report, bool throws = false) {
  return [=](caf::actor_system& sys) -> handler_actor {
    return sys.spawn<attentive_handler>(report, throws);
  };
}

} // namespace

TEST_CASE("S15, S16, H46: an outbox's message is tried 5 times with one stable "
          "id, then it is a dead letter with the last error") {
  consumer_fixture t;
  auto id = t.ask<int64_t>(t.writer, outbox_enqueue{"mail", "m", attempts(5)});
  t.deliver("mail", t.table.held());
  std::set<std::string> ids;
  for (int n = 1; n <= 5; ++n) {
    auto x = t.table.next();
    ids.insert(x.what.stable_id);
    CHECK(x.what.attempts == n);
    CHECK(x.what.payload == "m");
    x.conclude(verdict::failed("error " + std::to_string(n)));
  }
  t.events.wait_for("dead");
  CHECK(ids.size() == 1);
  auto dead = t.look_at(id);
  CHECK(dead.state == job_state::dead);
  CHECK(dead.attempts == 5);
  CHECK(dead.last_error == "error 5");
  CHECK(t.events.count("failed") == 4);
}

TEST_CASE("S15: delivered is gone, failed waits for its backoff or the given "
          "delay, dead is dead at once") {
  consumer_fixture t;
  auto send = [&] {
    return t.ask<int64_t>(t.writer, outbox_enqueue{"mail", "m", {}});
  };
  t.deliver("mail", t.table.held(), 1);
  auto one = send();
  t.table.next().conclude(verdict::delivered());
  t.events.wait_for("delivered");
  CHECK(t.ask_error<job>(t.reader, get_job{one}) == errc::not_found);
  auto two = send();
  t.table.next().conclude(verdict::failed("no"));
  t.events.wait_for("failed");
  auto waiting = t.look_at(two);
  CHECK(waiting.state == job_state::waiting);
  CHECK(waiting.last_error == "no");
  auto left = waiting.run_at - t.time.wall_now();
  CHECK(left <= 5s);
  CHECK(left > 4s);
  auto three = send();
  t.table.next().conclude(verdict::failed("later", 1h));
  t.events.wait_for("failed", 2);
  CHECK(t.look_at(three).run_at - t.time.wall_now() > 59min);
  auto four = send();
  t.table.next().conclude(verdict::dead("gone"));
  t.events.wait_for("dead");
  CHECK(t.look_at(four).last_error == "gone");
}

TEST_CASE("H40, H24: a claim that lapses at work is told to its handler, and "
          "its verdict does not count") {
  consumer_fixture t;
  auto id = t.enqueue_one("q", "x", visible(200ms));
  t.work(attentive(t.events.sink()));
  CHECK(t.events.wait_for("told of the lapse").job == id);
  t.events.wait_for("claim lapsed");
  t.events.wait_for("not counted");
  // The second attempt is a start of its own.
  t.events.wait_for("started", 2);
}

TEST_CASE("H40: a handler that sends heartbeats keeps its claim: one start, "
          "one ack") {
  consumer_fixture t;
  auto id = t.enqueue_one("q", "x", visible(300ms));
  t.work(t.table.held());
  auto x = t.table.next();
  auto claim = x.what.claim;
  for (int i = 0; i < 8; ++i) {
    CHECK(t.table.stays_empty(100ms));
    claim = t.ask<claim_handle>(t.writer, heartbeat{claim, 300ms});
  }
  CHECK(t.look_at(id).attempts == 1);
  x.conclude(verdict::delivered());
  t.events.wait_for("delivered");
  CHECK(t.events.count("claim lapsed") == 0);
  CHECK(t.table.started() == 1);
}

TEST_CASE("A wall clock that jumps forward lapses a claim, and its handler is "
          "told") {
  consumer_fixture t;
  t.enqueue_one("q", "x", visible(60s));
  t.work(attentive(t.events.sink()));
  t.events.wait_for("started");
  t.time.step(1h);
  t.events.wait_for("told of the lapse");
}

TEST_CASE("H41: what waited too long behind a slow job goes back unstarted, to "
          "an idle worker, and is handled once") {
  consumer_fixture t;
  fake_delivery idle;
  t.work(t.table.held(), 1, 10, "busy");
  t.enqueue_several(10, visible(1s));
  auto slow = t.table.next(); // the other nine wait behind it
  t.work(idle.handler(verdict::delivered()), 10, 10, "idle");
  idle.wait_started(9);
  slow.conclude(verdict::delivered());
  t.events.wait_for("delivered", 9);
  CHECK(t.events.count("released") == 9);
  CHECK(t.table.stays_empty(50ms));
  CHECK(idle.started() == 9);
  CHECK(t.ask<std::vector<job>>(t.reader, list_jobs{"q", 0, 100}).empty());
}

TEST_CASE("H41: a job behind one with more time goes back when its own is half "
          "over") {
  consumer_fixture t;
  fake_delivery idle;
  t.work(t.table.held(), 1, 10, "busy");
  t.enqueue_several(2, visible(60s));
  t.enqueue_several(1, visible(1s));
  auto slow = t.table.next(); // both others wait behind it
  t.events.wait_for("released");
  t.work(idle.handler(verdict::delivered()), 10, 10, "idle");
  idle.wait_started(1);
  CHECK(t.events.count("released") == 1);
  slow.conclude(verdict::delivered());
}

TEST_CASE("S26, H66: a stop hands back what was not started and waits for what "
          "was") {
  consumer_fixture t;
  auto worker = t.work(t.table.held(), 2, 10);
  t.enqueue_several(10);
  auto one = t.table.next();
  auto two = t.table.next();
  auto stopped = port::ask(t.self, patience, worker, stop{});
  t.events.wait_for("released", 8);
  one.conclude(verdict::delivered());
  t.events.wait_for("delivered");
  two.conclude(verdict::failed("no"));
  auto done = false;
  std::move(stopped).receive([&](completed) { done = true; },
                             [](const caf::error&) {});
  CHECK(done);
  CHECK(t.wait_end(worker) == caf::exit_reason::normal);
  auto left = t.ask<std::vector<job>>(t.reader, list_jobs{"q", 0, 100});
  REQUIRE(left.size() == 9);
  for (auto& x : left) {
    CHECK(x.state == job_state::waiting);
    CHECK(x.attempts == (x.last_error.empty() ? 0 : 1));
  }
  CHECK(t.table.stays_empty(50ms));
}

TEST_CASE("A stop while the store's lock is held by another loses nothing") {
  consumer_fixture t;
  neighbour other{t.path()};
  auto worker = t.work(t.table.held(), 1, 5);
  t.enqueue_several(5);
  auto one = t.table.next();
  other.hold();
  auto stopped = port::ask(t.self, patience, worker, stop{});
  one.conclude(verdict::delivered());
  t.let_pass(300ms);
  other.let_go();
  auto done = false;
  std::move(stopped).receive([&](completed) { done = true; },
                             [](const caf::error&) {});
  CHECK(done);
  CHECK(other.jobs() == 4);
  CHECK(other.number("SELECT sum(claimed) + sum(attempts) FROM alkstore_jobs")
        == 0);
}

TEST_CASE("A handler that dies costs its running job an attempt and the "
          "waiting ones none") {
  consumer_fixture t;
  t.enqueue_several(20, attempts(1, 1h)); // of which only one is handed out
  t.enqueue_several(20, attempts(3, 1h));
  auto worker = t.work(attentive(t.events.sink(), true), 1, 100);
  auto why = t.wait_end(worker);
  CHECK(why);
  CHECK(why != caf::exit_reason::normal);
  auto left = t.ask<std::vector<job>>(t.reader, list_jobs{"q", 0, 100});
  CHECK(left.size() == 39);
  for (auto& x : left) {
    CHECK(x.state == job_state::waiting);
    CHECK(x.attempts == 0);
  }
  auto dead = t.ask<std::vector<job>>(t.reader, list_dead{"q", false, 0, 100});
  CHECK(dead.size() == 1);
  CHECK(t.events.count("started") == 1);
}

TEST_CASE(
  "A handler that dies costs only the job in its hands an attempt, however "
  "many wait behind it") {
  consumer_fixture t;
  t.enqueue_several(50, attempts(3, 1h));
  auto concurrency = GENERATE(1, 10); // the latter: nine wait in its mailbox
  auto worker = t.work(attentive(t.events.sink(), true), concurrency, 50);
  t.wait_gone(worker);
  auto left = t.ask<std::vector<job>>(t.reader, list_jobs{"q", 0, 100});
  REQUIRE(left.size() == 50);
  int tried = 0;
  for (auto& x : left) {
    CHECK(x.state == job_state::waiting);
    tried += x.attempts;
  }
  CHECK(tried == 1);
  CHECK(t.events.count("started") == 1);
}

TEST_CASE("Each job that died with its handler says so once") {
  consumer_fixture t;
  t.enqueue_several(3, attempts(3, 1h));
  caf::actor_addr handler;
  auto worker = t.work(
    [&](caf::actor_system& sys) {
      auto made = attentive(t.events.sink())(sys);
      handler = made.address();
      return made;
    },
    3, 3);
  t.events.wait_for("started", 3);
  caf::anon_send_exit(caf::actor_cast<caf::actor>(handler),
                      caf::exit_reason::kill);
  CHECK(code_of(t.wait_end(worker)) == errc::failed);
  auto left = t.ask<std::vector<job>>(t.reader, list_jobs{"q", 0, 100});
  REQUIRE(left.size() == 3);
  for (auto& x : left) {
    CHECK(x.attempts == 1);
    CHECK(x.last_error == left[0].last_error);
    CHECK(x.last_error.rfind("the handler has ended: ") == 0);
  }
}

TEST_CASE("A verdict that met a full disk is sent again until it counts") {
  faulty_disk disk;
  consumer_fixture t;
  auto id = t.enqueue_one();
  t.work(t.table.held());
  auto x = t.table.next();
  disk.fail(disk_op::write, SQLITE_FULL, 2);
  x.conclude(verdict::delivered());
  t.events.wait_for("delivered");
  CHECK(disk.failed() == 2);
  CHECK(t.ask_error<job>(t.reader, get_job{id}) == errc::not_found);
}

TEST_CASE("H78: an outbox whose receiver never answers does not hold up "
          "another") {
  consumer_fixture t;
  fake_delivery good;
  for (int i = 0; i < 100; ++i)
    t.ask<int64_t>(t.writer, outbox_enqueue{"dead-end", "m", {}});
  t.deliver("dead-end", t.table.held());
  t.deliver("good", good.handler(verdict::delivered()));
  t.table.wait_started(8);
  for (int i = 1; i <= 20; ++i) {
    auto start = std::chrono::steady_clock::now();
    t.ask<int64_t>(t.writer, outbox_enqueue{"good", "m", {}});
    good.wait_started(i);
    CHECK(std::chrono::steady_clock::now() - start < 2s);
  }
  CHECK(t.table.started() == 8); // its own concurrency, no more
}

TEST_CASE("H85: messages that fail again and again do not keep a new one from "
          "its turn") {
  consumer_fixture t;
  for (int i = 0; i < 100; ++i)
    t.ask<int64_t>(t.writer,
                   outbox_enqueue{"mail", "bad", attempts(1'000'000, 20ms)});
  std::atomic<int> bad{0};
  std::atomic<bool> good{false};
  auto handler = [&](caf::actor_system& sys) {
    return spawn_callback_handler(
      sys, [&](delivery x, std::function<void(verdict)> conclude) {
        if (x.what.payload == "bad") {
          ++bad;
          return conclude(verdict::failed("no", 10ms));
        }
        good = true;
        conclude(verdict::delivered());
      });
  };
  t.deliver("mail", handler);
  t.events.wait_for("failed", 200);
  auto before = bad.load();
  t.ask<int64_t>(t.writer, outbox_enqueue{"mail", "good", {}});
  t.events.wait_for("delivered");
  CHECK(good);
  CHECK(bad - before < 300);
  for (auto& x : t.consumers)
    t.ask<completed>(x, stop{});
}

TEST_CASE("A forwarder moves each payload into the outbox in the ack's own "
          "transaction") {
  consumer_fixture t;
  neighbour other{t.path()};
  for (int i = 0; i < 50; ++i)
    t.enqueue_one("q", "payload " + std::to_string(i));
  auto forwarder = t.consumers.emplace_back(spawn_queue_forwarder(
    t.sys, t.setup("q", 8, 100), "mail", t.writer, t.reader));
  t.events.wait_for("forwarded", 50);
  t.enqueue_one("q", "one more");
  t.events.wait_for("forwarded", 51);
  CHECK(other.number("SELECT count(*) FROM alkstore_jobs WHERE queue = 'q'")
        == 0);
  CHECK(other.jobs() == 51);
  CHECK(other.number("SELECT max_attempts FROM alkstore_jobs LIMIT 1") == 5);
  t.deliver("mail", t.table.held());
  CHECK(t.table.next().what.payload == "payload 0");
  t.ask<completed>(forwarder, stop{});
}

TEST_CASE("A delivery's time limit leaves room to settle within the claim") {
  consumer_fixture t;
  t.work(t.table.held(), 2, 2);
  t.enqueue_one("q", "x", visible(60s));
  t.enqueue_one("q", "x", visible(10s));
  auto first = t.table.next();
  auto second = t.table.next();
  CHECK(first.time_limit <= 55s);
  CHECK(first.time_limit > 54s);
  CHECK(second.time_limit <= 8s);
  CHECK(second.time_limit > 7s);
}

TEST_CASE("A thousand jobs through a queue worker: each is handled once, and "
          "none is left") {
  consumer_fixture t;
  auto worker = t.work(t.table.handler(verdict::delivered()), 100, 100);
  for (int i = 0; i < 10; ++i)
    t.enqueue_several(100);
  t.events.wait_for("delivered", 1000);
  t.ask<completed>(worker, stop{});
  CHECK(t.table.started() == 1000);
  CHECK(neighbour{t.path()}.jobs() == 0);
}
