#include "substrate/dedupe.hpp"

#include "tests/substrate/fixture.hpp"

using namespace alkstore;

namespace {

const job_options keyed{.dedupe_key = "k"};

} // namespace

TEST_CASE("H74: a key that waits or runs answers the id of the job there is") {
  store s;
  auto id = s.enqueue(q, "first", keyed);
  {
    witness unchanged{s};
    CHECK(s.enqueue(q, "second", keyed) == id);
    CHECK(unchanged.saw_nothing());
  }
  auto claim = s.claim(q).claim;
  CHECK(s.enqueue(q, "third", keyed) == id);
  s.retry(claim);
  CHECK(s.enqueue(q, "fourth", keyed) == id);
  CHECK(s.get(id).payload == "first");
  CHECK(s.get(id).dedupe_key == "k");
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 1);
}

TEST_CASE("H74: after the ack a repeat answers the same id until dedupe-for "
          "has passed") {
  store s{{.rules = {.dedupe_for = 1h}}};
  auto id = s.enqueue(q, "x", keyed);
  s.time.advance(1s);
  s.ack(s.claim(q).claim);
  s.time.set(T + 1s + 1h - 1ms);
  {
    witness unchanged{s};
    CHECK(s.enqueue(q, "x", keyed) == id);
    CHECK(unchanged.saw_nothing());
  }
  s.time.set(T + 1s + 1h);
  auto again = s.enqueue(q, "x", keyed);
  CHECK(again == id + 1);
  s.ack(s.claim(q).claim);
  CHECK(s.enqueue(q, "x", keyed) == again);
}

TEST_CASE("the mark lives 24 h unless the store says otherwise") {
  store s;
  s.enqueue(q, "x", keyed);
  s.ack(s.claim(q).claim);
  CHECK(s.number("SELECT until FROM alkstore_dedupe")
        == (T + 24h).time_since_epoch().count());
}

TEST_CASE("a dead or a cancelled job frees its key and leaves no mark") {
  store s;
  auto id = s.enqueue(q, "x", keyed);
  SECTION("dead") {
    s.fail(s.claim(q).claim);
  }
  SECTION("cancelled while it waits") {
    s.write([&](transaction& tx) { jobs::cancel(tx, id); });
  }
  SECTION("cancelled while it runs") {
    s.claim(q);
    s.write([&](transaction& tx) { jobs::cancel(tx, id); });
  }
  CHECK(s.enqueue(q, "x", keyed) == id + 1);
  CHECK(s.number("SELECT count(*) FROM alkstore_dedupe") == 0);
}

TEST_CASE("an expired or exhausted holder is moved to the dead letters first") {
  store s;
  auto options = keyed;
  auto expected = std::string{"expired"};
  SECTION("expired unclaimed") {
    options.expires_in = 10s;
  }
  SECTION("expired, and its claim lapsed") {
    options.expires_in = 10s;
    options.visibility_timeout = 10s;
  }
  SECTION("its last attempt lapsed") {
    options.max_attempts = 1;
    options.visibility_timeout = 10s;
    expected = "max attempts exceeded";
  }
  auto id = s.enqueue(q, "x", options);
  if (options.visibility_timeout)
    s.claim(q);
  s.time.set(T + 9999ms);
  CHECK(s.enqueue(q, "x", keyed) == id);
  s.time.set(T + 10s);
  CHECK(s.enqueue(q, "x", keyed) == id + 1);
  CHECK(s.get(id).state == job_state::dead);
  CHECK(s.get(id).last_error == expected);
}

TEST_CASE("a holder that expired but runs still holds its key") {
  store s;
  auto options = keyed;
  options.expires_in = 10s;
  auto id = s.enqueue(q, "x", options);
  s.claim(q);
  s.time.set(T + 20s);
  CHECK(s.enqueue(q, "x", keyed) == id);
}

TEST_CASE("H33: a key belongs to its queue, and any bytes make one") {
  store s;
  auto with = [](std::string key) {
    return job_options{.dedupe_key = std::move(key)};
  };
  auto ab = queue_name::plain("a:b"), a = queue_name::plain("a");
  CHECK(s.enqueue(ab, "x", with("c")) == 1);
  CHECK(s.enqueue(a, "x", with("b:c")) == 2);
  CHECK(s.enqueue(a, "x", with("c")) == 3);
  CHECK(s.enqueue(queue_name::outbox("a"), "x", with("c")) == 4);
  std::string nul{"k\0a", 3}, other{"k\0b", 3};
  CHECK(s.enqueue(a, "x", with(nul)) == 5);
  CHECK(s.enqueue(a, "x", with(other)) == 6);
  CHECK(s.enqueue(a, "x", with("k")) == 7);
  CHECK(s.enqueue(a, "x", with(nul)) == 5);
  CHECK(s.get(5).dedupe_key == nul);
  CHECK(s.enqueue(a, "x", with(std::string(128, '\xFF'))) == 8);
  CHECK(s.enqueue(a, "x", with(std::string(127, '\xFF'))) == 9);
}

TEST_CASE("jobs without a key never meet") {
  store s;
  CHECK(s.enqueue(q) == 1);
  CHECK(s.enqueue(q) == 2);
  s.ack(s.claim(q).claim);
  CHECK(s.number("SELECT count(*) FROM alkstore_dedupe") == 0);
}

TEST_CASE("lapsed marks are forgotten in bounded pieces, others stay") {
  store s;
  for (auto key : {"1", "2", "3", "4"}) {
    s.enqueue(q, "x", {.dedupe_key = key});
    s.ack(s.claim(q).claim);
    s.time.advance(1s);
  }
  auto forget = [&] {
    return s.write(
      [](transaction& tx) { return dedupe::forget_lapsed(tx, 2); });
  };
  CHECK(forget() == 0);
  s.time.set(T + 24h + 2s);
  CHECK(forget() == 2);
  CHECK(forget() == 1);
  CHECK(forget() == 0);
  CHECK(s.enqueue(q, "x", {.dedupe_key = "4"}) == 4);
}
