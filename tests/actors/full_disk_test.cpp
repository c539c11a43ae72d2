// A disk that is full, and then not any more.
#include "testing/fake_delivery.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/actors/neighbour.hpp"
#include "tests/support/small_disk.hpp"

using namespace alkstore;
using namespace alkstore::test;

namespace {

constexpr int64_t mebibyte = 1024 * 1024;

bool is_whole(neighbour& db) {
  return db.number("SELECT integrity_check = 'ok' FROM pragma_integrity_check")
         == 1;
}

} // namespace

TEST_CASE("H58: on a full disk calls fail with disk_full, and once there is "
          "space everything goes on by itself") {
  small_disk disk{4 * mebibyte};
  if (!disk.mounted())
    return;
  system_fixture t;
  testing::fake_delivery box;
  runtime_options options;
  options.store = t.store_options();
  options.store.path = disk.path("store.db");
  options.lease = {1500ms, 500ms};
  options.outboxes = {{"box", box.held()}};
  auto node = start(t.sys, std::move(options));
  auto store = t.ask<store_handles>(node, get_store{});
  t.events.wait_for("leading");
  t.ask<int64_t>(store.store, outbox_enqueue{"box", "m", {}});
  auto message = box.next();
  disk.fill();

  for (int i = 0; i < 10; ++i) {
    auto start = clock::system().steady_now();
    CHECK(t.ask_error<int64_t>(store.store,
                               enqueue{"q", std::string(9000, 'x'), {}})
          == errc::disk_full);
    CHECK(clock::system().steady_now() - start < 1s);
  }
  message.conclude(verdict::delivered()); // its ack cannot be written
  t.events.wait_for("leadership lost");   // nor can a renewal
  neighbour outside{disk.path("store.db")};
  CHECK(outside.jobs() == 1);
  CHECK(t.events.count("delivered") == 0);

  disk.relieve();
  auto freed = clock::system().steady_now();
  t.ask<int64_t>(store.store, enqueue{"q", "x", {}}); // the same writer
  CHECK(clock::system().steady_now() - freed < 5s);
  t.events.wait_for("delivered");
  t.events.wait_for("leading", 2);
  t.ask<completed>(node, stop{});
  CHECK(outside.jobs() == 1);
  CHECK(is_whole(outside));
}

TEST_CASE("H65: on a full disk old dead letters can be deleted or the call is "
          "disk_full, and their space is used again") {
  small_disk disk{8 * mebibyte};
  if (!disk.mounted())
    return;
  testing::virtual_clock time;
  auto path = disk.path("store.db");
  store_fixture t{[&](writer_options& o) {
    o.path = path;
    o.time = &time;
    o.retention = 24h;
  }};
  // 2 MiB of dead letters.
  std::vector<enqueue> old(100, {"q", std::string(20'000, 'd'), {}});
  auto ids = t.ask<std::vector<int64_t>>(t.writer, enqueue_many{old});
  for (auto& x : t.settle_all(t.claim(100), settlement::action::fail))
    REQUIRE(x == errc{});
  time.step(24h);
  auto leader = t.ask<lease>(t.writer, campaign{"a", 24h, {}});
  disk.fill();

  auto fits = [&](errc code) {
    return code == errc{} || code == errc::disk_full;
  };
  CHECK(fits(t.try_ask<bool>(t.writer, delete_dead{ids[0]}).code));
  CHECK(fits(t.try_ask<maintenance_report>(t.writer, maintain{leader}).code));
  neighbour outside{path};
  CHECK(is_whole(outside));

  disk.relieve();
  t.ask<bool>(t.writer, delete_dead{ids[0]});
  while (t.ask<maintenance_report>(t.writer, maintain{leader}).more) {
  }
  CHECK(outside.number("SELECT count(*) FROM alkstore_dead") == 0);
  CHECK(outside.number("SELECT count(*) FROM alkstore_payloads") == 0);
  auto pages = outside.number("PRAGMA page_count");
  t.ask<std::vector<int64_t>>(
    t.writer, enqueue_many{
                std::vector<enqueue>(1000, {"q", std::string(1000, 'n'), {}})});
  CHECK(outside.number("PRAGMA page_count") == pages);
  CHECK(outside.jobs() == 1000);
  CHECK(is_whole(outside));
}
