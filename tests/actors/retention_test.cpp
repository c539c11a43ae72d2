// Much that is to be deleted, while others work.
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"
#include "tests/support/rounds.hpp"

using namespace alkstore;
using namespace alkstore::test;

namespace {

// Dead letters of `hours` ago, as quick as SQLite makes them.
void bury_many(neighbour& db, int count, int hours) {
  db.write([&](transaction& tx) {
    tx.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
           " WHERE i < ?1) INSERT INTO alkstore_dead(queue, priority, run_at,"
           " claim_number, attempts, max_attempts, visibility_ms, backoff_ms,"
           " enqueued_at, stable_id, last_error, died_at)"
           " SELECT 'q', 0, 0, 1, 1, 1, 1, 1, 0, randomblob(16), 'no', ?2"
           " FROM n",
           count, tx.now() - std::chrono::hours{hours});
    return tx.run("INSERT OR IGNORE INTO alkstore_payloads"
                  " SELECT id, zeroblob(100) FROM alkstore_dead");
  });
}

} // namespace

TEST_CASE("H64: a great deal of old dead letters goes in pieces that hold up "
          "neither a renewal nor a caller") {
  store_fixture t{[](writer_options& o) { o.retention = 24h; }};
  neighbour outside{t.path()};
  auto old = rounds(20'000, 1'000'000);
  bury_many(outside, old, 25);
  bury_many(outside, 1000, 23);
  auto held = t.ask<lease>(t.writer, campaign{"a", 6s, {}});
  std::vector<millis> pieces, enqueues;
  for (auto more = true; more;) {
    auto start = clock::system().steady_now();
    auto piece = port::ask(t.self, patience, t.writer, maintain{held});
    auto one = port::ask(t.self, patience, t.writer, enqueue{"q", "x", {}});
    auto renewal = port::ask(t.self, patience, t.writer,
                             renew_leadership{held});
    std::move(renewal).receive(
      [&](lease& x) { held = std::move(x); },
      [](const caf::error&) { FAIL("the renewal failed"); });
    std::move(piece).receive(
      [&](const maintenance_report& x) {
        CHECK(x.removed <= 500);
        more = x.more;
        pieces.push_back(since(start));
      },
      [](const caf::error&) { FAIL("the maintenance failed"); });
    std::move(one).receive(
      [&](int64_t) { enqueues.push_back(since(start)); },
      [](const caf::error&) { FAIL("the enqueue failed"); });
  }
  CHECK(outside.number("SELECT count(*) FROM alkstore_dead") == 1000);
  CHECK(outside.number("SELECT count(*) FROM alkstore_payloads")
        == 1000 + static_cast<int64_t>(enqueues.size()));
  std::sort(pieces.begin(), pieces.end());
  std::sort(enqueues.begin(), enqueues.end());
  // The 99th of a hundred, since other tests run beside this one.
  auto nearly_all = pieces.size() * 99 / 100 - (pieces.size() < 100 ? 1 : 0);
  CHECK(pieces[nearly_all] < 100ms);
  CHECK(enqueues[nearly_all] < 200ms);
}
