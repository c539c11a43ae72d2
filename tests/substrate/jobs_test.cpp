#include "tests/substrate/fixture.hpp"

#include <limits>
#include <random>
#include <set>

using namespace alkstore;

TEST_CASE("S10, S14: a job is stamped with its queue's derived set") {
  store s;
  auto plain = s.get(s.enqueue(q, "hello"));
  CHECK(plain.id == 1);
  CHECK(plain.queue == "q");
  CHECK(plain.payload == "hello");
  CHECK(plain.state == job_state::waiting);
  CHECK(plain.priority == 0);
  CHECK(plain.attempts == 0);
  CHECK(plain.max_attempts == 3);
  CHECK(plain.visibility_timeout == 300s);
  CHECK(plain.backoff_base == 5s);
  CHECK(plain.enqueued_at == T);
  CHECK(plain.run_at == T);
  CHECK(plain.expires_at == std::nullopt);
  CHECK(plain.claim == claim_handle{1, 0, timestamp{}});
  CHECK(plain.schedule.empty());
  CHECK(plain.fire_at == std::nullopt);
  CHECK(plain.last_error.empty());
  CHECK(plain.died_at == std::nullopt);
  auto message = s.get(s.enqueue(box));
  CHECK(message.queue == "__alkstore_outbox:box");
  CHECK(message.max_attempts == 5);
  CHECK(message.visibility_timeout == 60s);
  CHECK(message.backoff_base == 5s);
}

TEST_CASE("S10: each option overrides its own value only") {
  store s;
  auto stamped = [&](const job_options& options) {
    auto x = s.get(s.enqueue(q, "x", options));
    return std::tuple{x.priority,     x.run_at - T,
                      x.max_attempts, x.visibility_timeout,
                      x.backoff_base, x.expires_at.value_or(T) - T};
  };
  using row = std::tuple<int, millis, int, millis, millis, millis>;
  CHECK(stamped({.priority = -32}) == row{-32, 0s, 3, 300s, 5s, 0s});
  CHECK(stamped({.priority = 31}) == row{31, 0s, 3, 300s, 5s, 0s});
  CHECK(stamped({.delay = 7s}) == row{0, 7s, 3, 300s, 5s, 0s});
  CHECK(stamped({.run_at = T - 1h}) == row{0, -1h, 3, 300s, 5s, 0s});
  CHECK(stamped({.expires_in = 1ms}) == row{0, 0s, 3, 300s, 5s, 1ms});
  CHECK(stamped({.max_attempts = 1}) == row{0, 0s, 1, 300s, 5s, 0s});
  CHECK(stamped({.visibility_timeout = 1ms}) == row{0, 0s, 3, 1ms, 5s, 0s});
  CHECK(stamped({.backoff_base = 1ms}) == row{0, 0s, 3, 300s, 1ms, 0s});
}

TEST_CASE("H46: an option out of range is refused, and nothing is written") {
  store s;
  witness unchanged{s};
  auto far = millis::max();
  for (auto& options :
       std::vector<job_options>{{.priority = -33},
                                {.priority = 32},
                                {.delay = -1ms},
                                {.delay = far},
                                {.run_at = timestamp{-1ms}},
                                {.run_at = timestamp::max()},
                                {.delay = 1s, .run_at = T},
                                {.expires_in = 0ms},
                                {.expires_in = -1ms},
                                {.expires_in = far},
                                {.max_attempts = 0},
                                {.max_attempts = -1},
                                {.visibility_timeout = 0ms},
                                {.visibility_timeout = far},
                                {.backoff_base = 0ms},
                                {.backoff_base = -1ms},
                                {.backoff_base = far},
                                {.dedupe_key = ""},
                                {.dedupe_key = std::string(129, 'k')}})
    CHECK(error_of([&] { s.enqueue(q, "x", options); })
          == errc::invalid_argument);
  CHECK(unchanged.saw_nothing());
  CHECK(text_of([&] { s.enqueue(q, "x", {.max_attempts = 0}); })
        == "max_attempts 0: it is at least 1");
}

TEST_CASE("H36: bytes that are no text come back as they went in") {
  store s;
  std::string bytes{"\xC3\x28\x00\xFF", 4};
  auto id = s.enqueue(q, bytes);
  CHECK(s.get(id).payload == bytes);
  CHECK(s.claim(q).payload == bytes);
}

TEST_CASE("H37: payloads of every size up to the limit arrive whole") {
  store s;
  std::vector<size_t> sizes{0, 1, 4095, 4096, 1048575, 1048576};
  for (size_t size = 65480; size <= 65540; ++size)
    sizes.push_back(size);
  std::mt19937 random{37};
  for (auto size : sizes) {
    std::string payload(size, '\0');
    for (auto& c : payload)
      c = static_cast<char>(random());
    auto id = s.enqueue(q, payload);
    auto arrived = s.claim(q);
    CHECK(arrived.id == id);
    CHECK((arrived.payload == payload));
    s.ack(arrived.claim);
  }
}

TEST_CASE("H37: one byte more is refused, with limit and size") {
  store s;
  witness unchanged{s};
  std::string payload(1048577, 'p');
  CHECK(error_of([&] { s.enqueue(q, payload); }) == errc::payload_too_large);
  CHECK(text_of([&] { s.enqueue(q, payload); })
        == "payload of 1048577 bytes: the limit is 1048576");
  CHECK(unchanged.saw_nothing());
  store small{{.rules = {.max_payload = 3}}};
  CHECK(small.enqueue(q, "abc") == 1);
  CHECK(error_of([&] { small.enqueue(q, "abcd"); }) == errc::payload_too_large);
}

TEST_CASE("ids grow and are never used again") {
  store s;
  CHECK(s.enqueue(q) == 1);
  CHECK(s.enqueue(q) == 2);
  s.ack(s.claim(q).claim);
  s.ack(s.claim(q).claim);
  CHECK(s.enqueue(q) == 3);
  CHECK(s.write([](transaction& tx) { return jobs::cancel(tx, 3); }));
  CHECK(s.enqueue(q) == 4);
}

TEST_CASE("S16: no two jobs share a stable id, also across files and after an "
          "older copy came back") {
  std::set<std::string> seen;
  temp_dir copies;
  manual_clock time;
  auto ids_of = [&](const std::string& path) {
    connection db{path, {}, time};
    transaction tx{db};
    for (int i = 0; i < 100; ++i) {
      auto made = jobs::get(tx, jobs::enqueue(tx, q, "x"));
      CHECK(made.stable_id.size() == 32);
      CHECK(made.stable_id.find_first_not_of("0123456789abcdef")
            == std::string::npos);
      seen.insert(made.stable_id);
    }
    tx.commit();
  };
  ids_of(copies / "a");
  std::filesystem::copy_file(copies / "a", copies / "older");
  ids_of(copies / "a");
  ids_of(copies / "older");
  ids_of(copies / "b");
  CHECK(seen.size() == 400);
}

TEST_CASE("cancel removes a waiting or a running job, once") {
  store s;
  auto cancel = [&](int64_t id) {
    return s.write([&](transaction& tx) { return jobs::cancel(tx, id); });
  };
  auto waiting = s.enqueue(q);
  auto running = s.enqueue(queue_name::plain("r"));
  auto claim = s.claim(queue_name::plain("r")).claim;
  CHECK(cancel(waiting));
  CHECK(cancel(running));
  CHECK(error_of([&] { s.ack(claim); }) == errc::claim_lost);
  witness unchanged{s};
  CHECK_FALSE(cancel(waiting));
  CHECK_FALSE(cancel(running));
  CHECK_FALSE(cancel(99));
  CHECK(unchanged.saw_nothing());
  CHECK(error_of([&] { s.get(waiting); }) == errc::not_found);
  CHECK(s.number("SELECT count(*) FROM alkstore_payloads") == 0);
}

TEST_CASE("list pages through a queue's live jobs; stats counts every place") {
  store s;
  for (int i = 0; i < 5; ++i)
    s.enqueue(q, "x", {.delay = i < 4 ? 0s : 1s});
  s.enqueue(box);
  auto running = s.claim(q);
  s.fail(s.claim(q).claim);
  transaction tx{s.db, transaction::access::read};
  std::vector<int64_t> ids;
  for (auto& x : jobs::list(tx, q, 0, 3)) {
    ids.push_back(x.id);
    CHECK(x.payload.empty());
    CHECK((x.state == job_state::running) == (x.id == running.id));
  }
  CHECK(ids == std::vector<int64_t>{1, 3, 4});
  CHECK(jobs::list(tx, q, 4, 3).size() == 1);
  auto stats = jobs::stats(tx);
  REQUIRE(stats.size() == 2);
  CHECK(stats[0].queue == "__alkstore_outbox:box");
  CHECK(stats[0].waiting == 1);
  CHECK(stats[1].queue == "q");
  CHECK(stats[1].waiting == 2);
  CHECK(stats[1].delayed == 1);
  CHECK(stats[1].running == 1);
  CHECK(stats[1].dead == 1);
}

TEST_CASE("list finds the live jobs of every queue, by where they stand") {
  store s;
  s.enqueue(q);
  s.enqueue(q);
  s.enqueue(q, "x", {.delay = 1s});
  s.enqueue(box);
  auto running = s.claim(q).id;
  transaction tx{s.db, transaction::access::read};
  auto found = [&](const jobs::filter& wanted) {
    std::vector<int64_t> ids;
    for (auto& x : jobs::list(tx, wanted)) {
      ids.push_back(x.id);
      CHECK((x.state == job_state::running) == (x.id == running));
    }
    return ids;
  };
  using ids = std::vector<int64_t>;
  CHECK(found({}) == ids{1, 2, 3, 4});
  CHECK(found({.after = 1, .max = 2}) == ids{2, 3});
  CHECK(found({.queue = q}) == ids{1, 2, 3});
  CHECK(found({.queue = box}) == ids{4});
  CHECK(found({.state = jobs::live_state::running}) == ids{running});
  CHECK(found({.state = jobs::live_state::delayed}) == ids{3});
  CHECK(found({.queue = q, .state = jobs::live_state::waiting}) == ids{2});
  CHECK(found({.queue = box, .state = jobs::live_state::delayed}).empty());
}

TEST_CASE("a claim that lapsed counts as waiting") {
  store s;
  auto id = s.enqueue(q);
  auto deadline = s.claim(q).claim.deadline;
  auto waiting = [&] {
    transaction tx{s.db, transaction::access::read};
    return std::tuple{jobs::get(tx, id).state, jobs::list(tx, q, 0, 1)[0].state,
                      jobs::stats(tx)[0].waiting, jobs::stats(tx)[0].running};
  };
  s.time.set(deadline - 1ms);
  CHECK(waiting() == std::tuple{job_state::running, job_state::running, 0, 1});
  s.time.set(deadline);
  CHECK(waiting() == std::tuple{job_state::waiting, job_state::waiting, 1, 0});
}
