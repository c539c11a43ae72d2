// The bound on what waits for the writer.
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

using namespace alkstore;
using namespace alkstore::test;

namespace {

// In MiB. A sanitizer keeps what was freed.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t memory_limit = 1024;
#else
constexpr size_t memory_limit = 256;
#endif

/// Resident memory in MiB.
size_t resident() {
  size_t ignored = 0, pages = 0;
  std::ifstream{"/proc/self/statm"} >> ignored >> pages;
  return pages * 4096 / (1024 * 1024);
}

struct tally {
  std::atomic<int> accepted{0}, overloaded{0}, other{0};

  void count(const answer<int64_t>& x) {
    if (x.value)
      ++accepted;
    else if (x.code == errc::overloaded)
      ++overloaded;
    else
      ++other;
  }
};

/// Sends `count` enqueues without waiting for an answer, then counts those.
caf::behavior flood(caf::event_based_actor* self, writer_actor to, int count,
                    size_t bytes, tally* out,
                    const std::function<void()>& done) {
  auto left = std::make_shared<int>(count);
  auto one_less = [self, left, done] {
    if (--*left == 0) {
      done();
      self->quit();
    }
  };
  for (int i = 0; i < count; ++i)
    port::ask(self, caf::infinite, to,
              enqueue{"q", std::string(bytes, 'x'), {}})
      .then(
        [=](int64_t) {
          ++out->accepted;
          one_less();
        },
        [=](const caf::error& why) {
          ++(code_of(why) == errc::overloaded ? out->overloaded : out->other);
          one_less();
        });
  return {[](int) {}};
}

/// Lets a test wait for a number of calls.
class countdown {
public:
  explicit countdown(int count) : left_(count) {}

  std::function<void()> call() {
    return [this] {
      std::lock_guard lock{mutex_};
      --left_;
      changed_.notify_all();
    };
  }

  bool done_within(std::chrono::milliseconds time) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, time, [this] { return left_ == 0; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int left_;
};

} // namespace

TEST_CASE("S24: what is beyond the bound is overloaded at once, and the rest "
          "counts to the row") {
  store_fixture t{[](writer_options& o) { o.waiting.operations = 100; }};
  neighbour other{t.path()};
  other.hold();
  tally seen;
  auto got = t.ask_all<int64_t>(
    t.writer, std::vector<enqueue>(300, enqueue{"q", "x", {}}), [&] {
      // The refusals do not wait for the lock.
      CHECK(t.ask_error<int64_t>(t.writer, enqueue{"q", "x", {}})
            == errc::overloaded);
      other.let_go();
    });
  for (auto& x : got)
    seen.count(x);
  CHECK(seen.accepted == 100);
  CHECK(seen.overloaded == 200);
  CHECK(other.jobs() == 100);
  t.enqueue_one(); // there is room again
}

TEST_CASE("S24: bytes are bounded like operations, and an answer gives its "
          "place back") {
  store_fixture t{[](writer_options& o) { o.waiting.bytes = 100'000; }};
  neighbour other{t.path()};
  for (int round = 0; round < 20; ++round) {
    other.hold();
    tally seen;
    auto got = t.ask_all<int64_t>(
      t.writer,
      std::vector<enqueue>(30, enqueue{"q", std::string(9'488, 'x'), {}}),
      [&] { other.let_go(); });
    for (auto& x : got)
      seen.count(x);
    REQUIRE(seen.accepted == 10);
    REQUIRE(seen.overloaded == 20);
  }
  // Refused ones and those that overshoot alone give it back, too.
  for (int i = 0; i < 20; ++i)
    CHECK(t.ask_error<int64_t>(t.writer,
                               enqueue{"a b", std::string(90'000, 'x'), {}})
          == errc::invalid_name);
  t.enqueue_one("q", std::string(500'000, 'x'));
  CHECK(other.jobs() == 201);
}

TEST_CASE("S24: settlements, ticks and renewals are taken beyond the bound") {
  store_fixture t{[](writer_options& o) { o.waiting.operations = 10; }};
  neighbour other{t.path()};
  t.enqueue_one();
  auto claim = t.claim().at(0).claim;
  auto held = t.ask<lease>(t.writer, campaign{"me", 60s, {}});
  other.hold();
  std::vector<enqueue> many(50, enqueue{"q", "x", {}});
  bool acked = false, renewed = false;
  auto got = t.ask_all<int64_t>(t.writer, many, [&] {
    auto one = port::ask(t.self, patience, t.writer, ack{claim});
    auto two = port::ask_urgently(t.self, patience, t.writer,
                                  renew_leadership{held});
    other.let_go();
    std::move(one).receive([&](completed) { acked = true; },
                           [](const caf::error&) {});
    std::move(two).receive([&](lease&) { renewed = true; },
                           [](const caf::error&) {});
  });
  CHECK(acked);
  CHECK(renewed);
}

TEST_CASE("S24: a flood of 200,000 enqueues at full speed delays no renewal "
          "by a tenth of the ttl, and memory stays bounded") {
  constexpr int senders = 4, each = 50'000;
  constexpr auto ttl = 15s;
  store_fixture t;
  auto held = t.ask<lease>(t.writer, campaign{"me", ttl, {}});
  auto before = resident();
  tally seen;
  countdown left{senders};
  for (int i = 0; i < senders; ++i)
    t.sys.spawn(flood, t.writer, each, size_t{100}, &seen, left.call());
  steady_time::duration worst{};
  size_t most = before;
  auto renew = [&] {
    auto start = std::chrono::steady_clock::now();
    auto good = false;
    port::ask_urgently(t.self, patience, t.writer, renew_leadership{held})
      .receive([&](lease&) { good = true; }, [](const caf::error&) {});
    REQUIRE(good);
    worst = std::max<steady_time::duration>(
      worst, std::chrono::duration_cast<millis>(std::chrono::steady_clock::now()
                                                - start));
    most = std::max(most, resident());
  };
  auto give_up = std::chrono::steady_clock::now() + 50s;
  do
    renew();
  while (!left.done_within(20ms) && std::chrono::steady_clock::now() < give_up);
  CHECK(seen.accepted + seen.overloaded == senders * each);
  CHECK(seen.other == 0);
  CHECK(seen.overloaded > 0);
  CHECK(neighbour{t.path()}.jobs() == seen.accepted);
  CHECK(worst < ttl / 10);
  // What the senders keep about their 200,000 requests is in it.
  CHECK(most < before + memory_limit);
}

TEST_CASE("H73: with the store blocked by another process, memory is bounded "
          "and the answers count to the row") {
  constexpr int senders = 4, each = 10'000;
  store_fixture t{[](writer_options& o) { o.busy_timeout = 1min; }};
  neighbour other{t.path()};
  auto held = t.ask<lease>(t.writer, campaign{"me", 60s, {}});
  other.hold();
  auto before = resident();
  tally seen;
  countdown left{senders};
  for (int i = 0; i < senders; ++i)
    t.sys.spawn(flood, t.writer, each, size_t{1024}, &seen, left.call());
  constexpr int admitted = 16'384 + senders; // at most
  for (int i = 0; seen.overloaded < senders * each - admitted && i < 2000; ++i)
    t.let_pass(10ms);
  CHECK(seen.overloaded >= senders * each - admitted);
  auto renewal = port::ask_urgently(t.self, patience, t.writer,
                                    renew_leadership{held});
  other.let_go();
  auto start = std::chrono::steady_clock::now();
  std::move(renewal).receive([](lease&) {},
                             [](const caf::error&) { FAIL("renewal"); });
  CHECK(std::chrono::steady_clock::now() - start < 500ms);
  REQUIRE(left.done_within(patience));
  CHECK(seen.accepted + seen.overloaded == senders * each);
  CHECK(other.jobs() == seen.accepted);
  CHECK(resident() < before + memory_limit);
}
