// What changes several rows with one statement does what one a row would do.
#include "tests/substrate/fixture.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

using namespace alkstore;

namespace {

using many = std::vector<jobs::new_job>;

std::vector<int64_t> enqueue(store& s, const many& wanted) {
  return s.write([&](transaction& tx) { return jobs::enqueue(tx, wanted); });
}

std::vector<int64_t> ids(const std::vector<job>& jobs) {
  std::vector<int64_t> out;
  for (auto& x : jobs)
    out.push_back(x.id);
  return out;
}

// All but its stable id, which no other job has.
auto fields(const job& x) {
  return std::tie(x.id, x.queue, x.payload, x.state, x.priority, x.attempts,
                  x.max_attempts, x.visibility_timeout, x.backoff_base,
                  x.enqueued_at, x.run_at, x.expires_at, x.claim, x.worker,
                  x.dedupe_key, x.schedule, x.fire_at, x.last_error, x.died_at);
}

bool ack_neighbours(store& s, const claim_handle& first, size_t count) {
  return s.write(
    [&](transaction& tx) { return claims::ack_neighbours(tx, first, count); });
}

} // namespace

TEST_CASE("many jobs at once are stored as one by one") {
  auto count = GENERATE(size_t{1}, size_t{15}, size_t{16}, size_t{17},
                        size_t{50});
  store together, alone;
  std::vector<job_options> options(count);
  std::vector<std::string> payloads(count);
  many wanted;
  for (size_t i = 0; i < count; ++i) {
    auto n = static_cast<int>(i);
    payloads[i] = std::string(i, static_cast<char>(i));
    if (n % 2 == 0)
      options[i].priority = n % 60 - 30;
    if (n % 3 == 0)
      options[i].delay = millis{n};
    if (n % 4 == 0)
      options[i].expires_in = millis{n + 1};
    if (n % 5 == 0)
      options[i].max_attempts = n + 1;
    if (n % 7 == 0)
      options[i].visibility_timeout = options[i].backoff_base = millis{n + 1};
    if (n % 9 == 0)
      options[i].dedupe_key = std::to_string(n);
    auto& queue = n % 2 == 0 ? q : box;
    wanted.push_back({queue, payloads[i], options[i]});
    alone.enqueue(queue, payloads[i], options[i]);
  }
  auto got = enqueue(together, wanted);
  REQUIRE(got.size() == count);
  std::set<std::string> stable_ids;
  for (size_t i = 0; i < count; ++i) {
    CHECK(got[i] == static_cast<int64_t>(i) + 1);
    auto stored = together.get(got[i]), expected = alone.get(got[i]);
    stable_ids.insert(stored.stable_id);
    CHECK(stored.queue == expected.queue);
    CHECK(stored.payload == expected.payload);
    CHECK(stored.priority == expected.priority);
    CHECK(stored.run_at == expected.run_at);
    CHECK(stored.enqueued_at == expected.enqueued_at);
    CHECK(stored.expires_at == expected.expires_at);
    CHECK(stored.max_attempts == expected.max_attempts);
    CHECK(stored.visibility_timeout == expected.visibility_timeout);
    CHECK(stored.backoff_base == expected.backoff_base);
    CHECK(stored.dedupe_key == expected.dedupe_key);
  }
  CHECK(stable_ids.size() == count);
}

TEST_CASE("a job that is claimed as it is stored is as one that was claimed "
          "afterwards") {
  store at_once, afterwards;
  job_options options;
  if (GENERATE(true, false)) {
    options.priority = 7;
    options.expires_in = 1h;
    options.max_attempts = 2;
    options.visibility_timeout = 3s;
    options.backoff_base = 2s;
    options.delay = 0s;
  }
  auto& queue = GENERATE(true, false) ? q : box;
  std::string payload{"a\0b", 3};
  auto born = at_once.write([&](transaction& tx) {
    return jobs::insert_claimed(tx, {queue, payload, options}, "w");
  });
  REQUIRE(born);
  afterwards.enqueue(queue, payload, options);
  auto claimed = afterwards.claim(queue);
  born->payload = payload;
  CHECK(fields(*born) == fields(claimed));
  auto stored = at_once.get(born->id);
  CHECK(fields(stored) == fields(afterwards.get(claimed.id)));
  CHECK(stored.stable_id == born->stable_id);
  CHECK(stored.stable_id.size() == 32);
}

TEST_CASE("a job that is to wait is not claimed as it is stored") {
  store s;
  job_options later, keyed, last;
  later.delay = 1ms;
  keyed.dedupe_key = "k";
  last.max_attempts = 1;
  for (auto& options : {later, keyed, last})
    CHECK(s.write([&](transaction& tx) {
      return jobs::insert_claimed(tx, {q, "x", options}, "w");
    }) == std::nullopt);
  CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 0);
}

TEST_CASE("of many jobs at once, one repeats another's dedupe key") {
  store s;
  job_options none, key{.dedupe_key = "k"}, other{.dedupe_key = "l"};
  using list = std::vector<int64_t>;
  CHECK(enqueue(s, {{q, "1", none},
                    {q, "2", key},
                    {q, "3", none},
                    {q, "no", key},
                    {q, "4", other},
                    {box, "5", key}})
        == list{1, 2, 3, 2, 4, 5});
  CHECK(enqueue(s, {{q, "no", key}, {q, "no", other}}) == list{2, 4});
  CHECK(enqueue(s, {}).empty());
  for (int64_t id = 1; id <= 5; ++id)
    CHECK(s.get(id).payload == std::to_string(id));
}

TEST_CASE("many jobs at once are refused together, before the first is "
          "written") {
  store s;
  witness w{s};
  job_options good, bad{.max_attempts = 0};
  std::string large(s.db.rules().max_payload + 1, 'x');
  CHECK(error_of([&] { enqueue(s, {{q, "x", good}, {q, "x", bad}}); })
        == errc::invalid_argument);
  CHECK(error_of([&] { enqueue(s, {{q, "x", good}, {q, large, good}}); })
        == errc::payload_too_large);
  CHECK(w.saw_nothing());
}

TEST_CASE("a claim takes its own jobs out of the midst of others") {
  store s;
  s.time.advance(1h);
  for (int i = 0; i < 60; ++i) // neighbours, pairs and single ones
    s.enqueue(i < 20 || i % 5 < 2 ? q : box);
  std::vector<int64_t> mine;
  for (int64_t id = 1; id <= 60; ++id)
    if (s.get(id).queue == q.text())
      mine.push_back(id);
  auto late = mine[5]; // claimable, but behind the others
  auto first = s.claim(q, 6);
  s.time.advance(1ms);
  s.retry(first[5].claim, "no", 0ms);
  s.time.advance(1s);
  for (int i = 0; i < 5; ++i)
    s.release(first[static_cast<size_t>(i)].claim);
  auto expected = mine;
  std::erase(expected, late);
  CHECK(ids(s.claim(q, static_cast<int>(expected.size()))) == expected);
  for (int64_t id = 1; id <= 60; ++id) {
    auto taken = std::find(expected.begin(), expected.end(), id)
                 != expected.end();
    auto x = s.get(id);
    CAPTURE(id);
    CHECK(x.state == (taken ? job_state::running : job_state::waiting));
    CHECK(x.attempts == (taken || id == late ? 1 : 0));
  }
}

TEST_CASE("S18: neighbours are acked together, or none of them") {
  store s;
  for (int i = 0; i < 10; ++i)
    s.enqueue(q);
  auto got = s.claim(q, 8);
  auto first = got[0].claim;
  SECTION("all of them") {
    CHECK(ack_neighbours(s, first, 8));
    CHECK(s.number("SELECT count(*) FROM alkstore_jobs") == 2);
    CHECK(s.number("SELECT count(*) FROM alkstore_payloads") == 2);
    CHECK(s.number("SELECT min(job_id) FROM alkstore_payloads") == 9);
  }
  SECTION("not with one that is not there, not claimed, or claimed anew") {
    SECTION("acked before") {
      s.ack(got[3].claim);
    }
    SECTION("released") {
      s.release(got[3].claim);
    }
    SECTION("claimed by another") {
      s.release(got[0].claim);
      REQUIRE(s.claim(q).id == 1);
    }
    witness w{s};
    CHECK_FALSE(ack_neighbours(s, first, 8));
    CHECK(w.saw_nothing());
  }
  SECTION("not with one more that nobody has claimed") {
    witness w{s};
    CHECK_FALSE(ack_neighbours(s, first, 9));
    CHECK(w.saw_nothing());
  }
  SECTION("not after the deadline") {
    s.time.set(first.deadline - 1ms);
    auto in_time = GENERATE(true, false);
    if (!in_time)
      s.time.set(first.deadline);
    CHECK(ack_neighbours(s, first, 8) == in_time);
  }
}

TEST_CASE("the last id there is has none behind it") {
  constexpr auto last = std::numeric_limits<int64_t>::max();
  CHECK(claims::follows(last - 1, last));
  CHECK_FALSE(claims::follows(last, last));
  CHECK_FALSE(claims::follows(last, std::numeric_limits<int64_t>::min()));
  store s;
  s.enqueue(q);
  s.write([](transaction& tx) {
    tx.run("UPDATE alkstore_jobs SET id = ?1", last - 1);
    tx.run("UPDATE alkstore_payloads SET job_id = ?1", last - 1);
  });
  CHECK(s.enqueue(q) == last);
  CHECK(error_of([&] { s.enqueue(q); }) == errc::disk_full);
  auto got = s.claim(q, 2);
  REQUIRE(got.size() == 2);
  CHECK(ack_neighbours(s, got[0].claim, 2));
}

TEST_CASE("neighbours with a dedupe key are not acked together: each leaves "
          "its mark") {
  store s;
  s.enqueue(q);
  s.enqueue(q, "x", {.dedupe_key = "k"});
  auto got = s.claim(q, 2);
  witness w{s};
  CHECK_FALSE(ack_neighbours(s, got[0].claim, 2));
  CHECK(w.saw_nothing());
}
