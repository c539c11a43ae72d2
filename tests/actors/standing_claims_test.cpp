// The writer's standing claims, with the test in the consumer's place.
#include "tests/actors/cpu_time.hpp"
#include "tests/actors/faulty_disk.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"

using namespace alkstore;
using namespace alkstore::test;

namespace {

job_options delayed(millis by) {
  job_options out;
  out.delay = by;
  return out;
}

job_options attempts(int count) {
  job_options out;
  out.max_attempts = count;
  return out;
}

/// Everything that is in the mailbox within 100 ms.
std::vector<job> what_comes(store_fixture& t) {
  std::vector<job> out;
  auto more = true;
  while (more)
    t.self->receive(
      [&](claimed& x) {
        std::move(x.jobs.begin(), x.jobs.end(), std::back_inserter(out));
      },
      caf::after(100ms) >> [&] { more = false; });
  return out;
}

consumer_actor as_consumer(const caf::scoped_actor& self) {
  return caf::actor_cast<consumer_actor>(
    caf::actor_cast<caf::actor>(self.ptr()));
}

/// A second consumer of q, with credit for four.
void stand_beside(store_fixture& t, caf::scoped_actor& second) {
  port::ask(second, patience, t.writer,
            grant{as_consumer(second), "q", false, "two", 4, 4})
    .receive([](completed) {}, [](const caf::error&) { FAIL("grant"); });
}

} // namespace

TEST_CASE("A standing claim gets what is there, and then what comes, in the "
          "commit that brought it") {
  store_fixture t;
  auto first = t.enqueue_one();
  t.stand(10, 10);
  CHECK(t.expect<claimed>().jobs.at(0).id == first);
  auto second = t.enqueue_one("q", "hello");
  // Running at the enqueue's own answer: it was claimed in its transaction.
  CHECK(t.look_at(second).state == job_state::running);
  auto got = t.expect<claimed>().jobs.at(0);
  CHECK(got.id == second);
  CHECK(got.payload == "hello");
  CHECK(got.attempts == 1);
  CHECK(got.worker == "me");
  t.enqueue_one("another");
  CHECK(t.hears_nothing<claimed>(50ms));
}

TEST_CASE("Credit bounds the jobs in hand, and every settlement gives one "
          "back, whatever came of it") {
  store_fixture t;
  t.stand(3, 3);
  t.ask<std::vector<int64_t>>(
    t.writer, enqueue_many{std::vector<enqueue>(20, enqueue{"q", "x", {}})});
  auto in_hand = what_comes(t);
  REQUIRE(in_hand.size() == 3);
  // Two acks, and the third's claim lost to a cancel.
  t.ask<bool>(t.writer, cancel_job{in_hand[2].id});
  auto results = t.settle_all(in_hand);
  CHECK(results == std::vector<errc>{errc{}, errc{}, errc::claim_lost});
  in_hand = what_comes(t);
  REQUIRE(in_hand.size() == 3);
  // An invalid settlement is answered and gives its credit back, too.
  settle odd{t.playing<consumer_actor>(), {}};
  odd.claims.push_back(
    {in_hand[0].claim, settlement::action::retry, "no", -1ms, {}, {}});
  CHECK(t.ask<settled>(t.writer, odd).results.at(0) == errc::invalid_argument);
  CHECK(what_comes(t).size() == 1);
  t.settle_all({in_hand[1]}, settlement::action::fail);
  CHECK(what_comes(t).size() == 1);
}

TEST_CASE("A released job comes back at once, a retried one when it is due") {
  store_fixture t;
  t.stand(1, 1);
  t.enqueue_one();
  auto one = t.expect<claimed>().jobs.at(0);
  t.settle_all({one}, settlement::action::release); // and the hand is free
  auto two = t.expect<claimed>().jobs.at(0);
  CHECK(two.id == one.id);
  CHECK(two.attempts == 1);
  settle message{t.playing<consumer_actor>(), {}};
  message.claims.push_back(
    {two.claim, settlement::action::retry, "no", 150ms, {}, {}});
  auto start = std::chrono::steady_clock::now();
  t.ask<settled>(t.writer, message);
  auto three = t.expect<claimed>().jobs.at(0);
  CHECK(std::chrono::steady_clock::now() - start >= 145ms);
  CHECK(three.attempts == 2);
  CHECK(three.last_error == "no");
}

TEST_CASE("H43: a delayed job is claimed when it is due, without any other "
          "traffic, however far that is") {
  store_fixture t;
  t.stand(5, 5);
  auto wait = GENERATE(300ms, 5600ms); // the latter in more than one sleep
  t.enqueue_one("q", "x", delayed(wait));
  auto got = t.expect<claimed>().jobs.at(0);
  auto claimed_at = got.claim.deadline - got.visibility_timeout;
  CHECK(claimed_at >= got.run_at);
  CHECK(claimed_at < got.run_at + 1s);
}

TEST_CASE("H06: a wall clock that steps back delays a standing claim until it "
          "is right again, without a restart") {
  store_fixture t;
  t.stand(5, 5);
  t.enqueue_one("q", "x", delayed(300ms));
  t.time.step(-1h);
  CHECK(t.hears_nothing<claimed>(600ms));
  t.time.step(1h);
  CHECK(t.expect<claimed>().jobs.size() == 1);
}

TEST_CASE("H45, S18: a lapsed claim comes back to a standing claim, one on its "
          "last attempt becomes a dead letter") {
  store_fixture t;
  auto how = attempts(2);
  how.visibility_timeout = 150ms;
  auto id = t.enqueue_one("q", "x", how);
  t.stand(5, 5);
  CHECK(t.expect<claimed>().jobs.at(0).attempts == 1);
  CHECK(t.expect<claimed>().jobs.at(0).attempts == 2);
  CHECK(t.hears_nothing<claimed>(400ms));
  auto dead = t.look_at(id);
  CHECK(dead.state == job_state::dead);
  CHECK(dead.last_error == "max attempts exceeded");
  CHECK(dead.attempts == 2);
}

TEST_CASE("A job on its last attempt is handed out only where it can be "
          "started at once") {
  store_fixture t;
  t.stand(5, 2);
  for (int i = 0; i < 4; ++i)
    t.enqueue_one("q", "x", attempts(1));
  auto in_hand = what_comes(t);
  CHECK(in_hand.size() == 2);
  t.settle_all({in_hand.at(0)});
  CHECK(what_comes(t).size() == 1);
}

TEST_CASE(
  "H41: what a consumer hands back unstarted is for others until it has "
  "a free hand") {
  store_fixture t;
  t.stand(5, 1);
  t.ask<std::vector<int64_t>>(
    t.writer, enqueue_many{std::vector<enqueue>(5, enqueue{"q", "x", {}})});
  auto in_hand = what_comes(t);
  REQUIRE(in_hand.size() == 5);
  t.settle_all({in_hand.begin() + 1, in_hand.end()},
               settlement::action::release);
  t.enqueue_one();
  CHECK(what_comes(t).empty());
  CHECK(t.claim(1).size() == 1);
  t.settle_all({in_hand[0]});
  CHECK(what_comes(t).size() == 4);
}

TEST_CASE("Credit that was taken back brings nothing more") {
  store_fixture t;
  t.stand(5, 5);
  t.stand(0, 0);
  t.enqueue_one();
  CHECK(t.hears_nothing<claimed>(100ms));
  CHECK(t.claim().size() == 1); // others may have it
}

TEST_CASE("Nothing is claimed for a consumer that has ended, even while its "
          "grant waited for the lock") {
  store_fixture t;
  neighbour other{t.path()};
  auto ends_at_once = [&] {
    caf::scoped_actor gone{t.sys};
    port::send(gone, t.writer,
               grant{as_consumer(gone), "q", false, "gone", 5, 5});
  };
  ends_at_once();
  other.hold();
  ends_at_once();
  t.stand(0, 0); // needs no lock; after two of these the end was heard of
  t.stand(0, 0);
  auto waiting = port::ask(t.self, patience, t.writer, enqueue{"q", "x", {}});
  other.let_go();
  int64_t id = 0;
  std::move(waiting).receive([&](int64_t x) { id = x; },
                             [](const caf::error&) {});
  CHECK(t.look_at(id).state == job_state::waiting);
  CHECK(t.look_at(id).attempts == 0);
}

TEST_CASE("Two consumers on a queue share its jobs, each job once") {
  store_fixture t;
  caf::scoped_actor second{t.sys};
  t.stand(4, 4);
  stand_beside(t, second);
  t.ask<std::vector<int64_t>>(
    t.writer, enqueue_many{std::vector<enqueue>(6, enqueue{"q", "x", {}})});
  auto mine = what_comes(t);
  size_t theirs = 0;
  second->receive([&](claimed& x) { theirs = x.jobs.size(); },
                  caf::after(1s) >> [] {});
  CHECK(mine.size() == 4);
  CHECK(theirs == 2);
}

TEST_CASE("A new job is not claimed past one that is due") {
  store_fixture t;
  t.stand(2, 1);
  auto running = t.enqueue_one();
  CHECK(t.expect<claimed>().jobs.at(0).id == running);
  auto last = t.enqueue_one("q", "x", attempts(1)); // wants a free hand
  t.enqueue_one();
  CHECK(what_comes(t).empty());
  auto first = t.look_at(running);
  t.settle_all({first});
  auto next = what_comes(t);
  REQUIRE(next.size() == 2);
  CHECK(next[0].id == last);
}

TEST_CASE("A new job's claim that lapses is for the queue's other consumers, "
          "too") {
  store_fixture t;
  caf::scoped_actor second{t.sys};
  t.stand(1, 1);
  stand_beside(t, second);
  job_options brief;
  brief.visibility_timeout = 150ms;
  auto id = t.enqueue_one("q", "x", brief);
  CHECK(t.expect<claimed>().jobs.at(0).id == id);
  second->receive([&](claimed& x) { CHECK(x.jobs.at(0).id == id); },
                  caf::after(5s) >> [] { FAIL("nobody looked"); });
}

TEST_CASE("S23: what was claimed in a commit that failed is handed out after "
          "the fault, once") {
  faulty_disk disk;
  store_fixture t;
  t.stand(5, 5);
  disk.fail(disk_op::write, SQLITE_FULL);
  CHECK(t.ask_error<int64_t>(t.writer, enqueue{"q", "x", {}})
        == errc::disk_full);
  CHECK(t.hears_nothing<claimed>(50ms));
  auto id = t.enqueue_one();
  auto got = what_comes(t);
  REQUIRE(got.size() == 1);
  CHECK(got[0].id == id);
  // Nor does the fault cost credit.
  t.ask<std::vector<int64_t>>(
    t.writer, enqueue_many{std::vector<enqueue>(10, enqueue{"q", "x", {}})});
  CHECK(what_comes(t).size() == 4);
}

TEST_CASE("A settlement whose commit failed can be sent again, and gives its "
          "credit back once") {
  faulty_disk disk;
  store_fixture t;
  t.stand(2, 2);
  t.ask<std::vector<int64_t>>(
    t.writer, enqueue_many{std::vector<enqueue>(9, enqueue{"q", "x", {}})});
  auto in_hand = what_comes(t);
  REQUIRE(in_hand.size() == 2);
  settle message{t.playing<consumer_actor>(), {}};
  for (auto& x : in_hand)
    message.claims.push_back(
      {x.claim, settlement::action::ack, {}, {}, {}, {}});
  disk.fail(disk_op::write, SQLITE_FULL);
  CHECK(t.ask_error<settled>(t.writer, message) == errc::disk_full);
  CHECK(what_comes(t).empty());
  CHECK(t.ask<settled>(t.writer, message).results
        == std::vector<errc>{errc{}, errc{}});
  CHECK(what_comes(t).size() == 2);
}

TEST_CASE("A grant for a name that is none is refused and changes nothing") {
  store_fixture t;
  CHECK(t.ask_error<completed>(t.writer,
                               grant{t.playing<consumer_actor>(),
                                     "__alkstore_outbox:x", false, "me", 5, 5})
        == errc::reserved_name);
  t.enqueue_one();
  CHECK(t.hears_nothing<claimed>(50ms));
}

TEST_CASE("A closing writer claims nothing more") {
  store_fixture t;
  neighbour other{t.path()};
  t.stand(5, 5);
  other.hold();
  auto last = port::ask(t.self, patience, t.writer, enqueue{"q", "x", {}});
  auto stopped = port::ask(t.self, patience, t.writer, stop{});
  other.let_go();
  int answers = 0;
  std::move(last).receive([&](int64_t) { ++answers; },
                          [](const caf::error&) {});
  std::move(stopped).receive([&](completed) { ++answers; },
                             [](const caf::error&) {});
  CHECK(answers == 2);
  CHECK(t.hears_nothing<claimed>(50ms));
  CHECK(other.number("SELECT sum(claimed) FROM alkstore_jobs") == 0);
}

TEST_CASE("A due job waits for a held lock without burning the processor") {
  store_fixture t;
  neighbour other{t.path()};
  t.stand(5, 5);
  t.enqueue_one("q", "x", delayed(100ms));
  other.hold();
  auto before = cpu_time();
  t.let_pass(1s);
  CHECK(cpu_time() - before < 500ms); // it tries some 2,000 times
  other.let_go();
  CHECK(t.expect<claimed>().jobs.size() == 1);
}

TEST_CASE("A function of a caller's that fails costs no due job its wake-up") {
  store_fixture t;
  neighbour other{t.path()};
  t.stand(5, 5);
  t.enqueue_one("q", "x", delayed(50ms));
  other.hold();
  auto failing = port::ask(t.self, patience, t.writer,
                           transact_request{[](transaction& tx) {
                             jobs::enqueue(tx, queue_name::plain("z"), "x");
                             throw std::runtime_error{"no"};
                           }});
  t.let_pass(100ms); // the job is due, and the function is first in line
  other.let_go();
  std::move(failing).receive([](completed) { FAIL("it threw"); },
                             [](const caf::error&) {});
  auto start = std::chrono::steady_clock::now();
  CHECK(t.expect<claimed>().jobs.size() == 1);
  CHECK(std::chrono::steady_clock::now() - start < 500ms);
}
