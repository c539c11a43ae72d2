#include "tests/substrate/fixture.hpp"

using namespace alkstore;

namespace {

std::optional<lease> acquire(store& s, std::string_view owner, millis ttl = 60s,
                             std::optional<leases::stale_lease> stale = {}) {
  return s.write([&](transaction& tx) {
    return leases::acquire(tx, "lock", owner, ttl, stale);
  });
}

lease renew(store& s, const lease& held) {
  return s.write([&](transaction& tx) { return leases::renew(tx, held); });
}

bool release(store& s, const lease& held) {
  return s.write([&](transaction& tx) { return leases::release(tx, held); });
}

std::optional<lease> row(store& s) {
  transaction tx{s.db, transaction::access::read};
  return leases::get(tx, "lock");
}

bool holds(store& s, const lease& held) {
  transaction tx{s.db, transaction::access::read};
  return leases::holds(tx, held);
}

} // namespace

TEST_CASE("S21: of two contenders one holds the lease") {
  store s;
  CHECK(row(s) == std::nullopt);
  auto a = acquire(s, "a");
  CHECK(a == lease{"lock", "a", 1, 0, 60s, T + 60s});
  witness unchanged{s};
  CHECK(acquire(s, "b") == std::nullopt);
  CHECK(acquire(s, "a") == std::nullopt);
  CHECK(unchanged.saw_nothing());
  CHECK(row(s) == a);
  CHECK(holds(s, *a));
}

TEST_CASE("S21: a lapsed lease is lost even if nobody took it") {
  store s;
  auto a = *acquire(s, "a");
  s.time.set(T + 60s);
  witness unchanged{s};
  CHECK(error_of([&] { renew(s, a); }) == errc::lock_lost);
  CHECK(text_of([&] { renew(s, a); })
        == "lease lock, token 1: its deadline passed or another holds it");
  CHECK_FALSE(holds(s, a));
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("H21: a former holder's release does not free the new holder's "
          "lease") {
  store s;
  auto a = *acquire(s, "a");
  s.time.set(T + 61s);
  auto b = *acquire(s, "b");
  s.time.set(T + 65s);
  {
    witness unchanged{s};
    CHECK_FALSE(release(s, a));
    CHECK(unchanged.saw_nothing());
  }
  s.time.set(T + 66s);
  CHECK(acquire(s, "c") == std::nullopt);
  CHECK(row(s) == b);
}

TEST_CASE("S21: tokens strictly grow, also over release and a clock that goes "
          "back") {
  store s;
  int64_t token = 0;
  auto take = [&](const char* owner) {
    auto taken = acquire(s, owner);
    REQUIRE(taken);
    CHECK(taken->token == ++token);
    CHECK(taken->renewals == 0);
    return *taken;
  };
  auto a = take("a");
  CHECK(release(s, a));
  CHECK(row(s) == lease{"lock", "", 1, 0, 60s, T});
  CHECK_FALSE(release(s, a));
  auto again = take("a");
  CHECK(error_of([&] { renew(s, a); }) == errc::lock_lost);
  CHECK_FALSE(release(s, a));
  s.time.set(T + 60s);
  auto b = take("b");
  CHECK(release(s, b));
  s.time.set(T - 1h);
  CHECK(take("c").expires_at == T - 1h + 60s);
  CHECK_FALSE(holds(s, again));
}

TEST_CASE("H19: a frozen holder that wakes up cannot renew its successor's "
          "lease") {
  store s;
  auto a = *acquire(s, "a");
  s.time.set(T + 61s);
  auto b = *acquire(s, "b");
  s.time.set(T + 70s);
  witness unchanged{s};
  CHECK(error_of([&] { renew(s, a); }) == errc::lock_lost);
  CHECK(unchanged.saw_nothing());
  CHECK(row(s) == b);
  CHECK(b.expires_at == T + 121s);
}

TEST_CASE("H20: each renewal moves the deadline, and nobody else gets in") {
  store s;
  auto held = *acquire(s, "a", 6s);
  for (int second = 1; second <= 60; ++second) {
    s.time.advance(1s);
    if (second % 2 == 0) {
      auto renewed = renew(s, held);
      CHECK(renewed.expires_at > held.expires_at);
      CHECK(renewed
            == lease{"lock", "a", 1, second / 2, 6s,
                     T + std::chrono::seconds{second + 6}});
      held = renewed;
    }
    CHECK(acquire(s, "b", 6s) == std::nullopt);
    CHECK(row(s)->owner == "a");
  }
}

TEST_CASE("H27: a standby that waited long gets a whole TTL") {
  store s;
  auto a = *acquire(s, "a");
  s.time.set(T + 59s);
  release(s, a);
  auto b = *acquire(s, "b");
  CHECK(b.expires_at == T + 119s);
  s.time.set(T + 89s);
  CHECK(holds(s, b));
  b = renew(s, b);
  CHECK(b.expires_at == T + 149s);
  s.time.set(T + 148s);
  CHECK(renew(s, b).expires_at == T + 208s);
}

TEST_CASE("H28: at its deadline a lease has expired for both sides, before it "
          "for neither") {
  store s;
  auto a = *acquire(s, "a");
  auto holder_first = GENERATE(true, false);
  SECTION("at the deadline") {
    s.time.set(T + 60s);
    if (holder_first)
      CHECK(error_of([&] { renew(s, a); }) == errc::lock_lost);
    CHECK(acquire(s, "b").value().token == 2);
    CHECK(error_of([&] { renew(s, a); }) == errc::lock_lost);
  }
  SECTION("a millisecond before it") {
    s.time.set(T + 60s - 1ms);
    if (!holder_first)
      CHECK(acquire(s, "b") == std::nullopt);
    CHECK(renew(s, a).expires_at == T + 120s - 1ms);
    CHECK(acquire(s, "b") == std::nullopt);
  }
}

TEST_CASE("H05: what a standby saw unchanged for a TTL it may take, though the "
          "clock went back") {
  store s;
  auto a = *acquire(s, "a");
  a = renew(s, a);
  s.time.set(T - 1h);
  CHECK(acquire(s, "b") == std::nullopt);
  CHECK(acquire(s, "b", 60s, leases::stale_lease{1, 0}) == std::nullopt);
  CHECK(acquire(s, "b", 60s, leases::stale_lease{2, 1}) == std::nullopt);
  CHECK(acquire(s, "b", 60s, leases::stale_lease{}) == std::nullopt);
  SECTION("it did not change") {
    CHECK(acquire(s, "b", 60s, leases::stale_lease{1, 1})
          == lease{"lock", "b", 2, 0, 60s, T - 1h + 60s});
    CHECK(error_of([&] { renew(s, a); }) == errc::lock_lost);
  }
  SECTION("a renewal came in between") {
    CHECK(renew(s, a).expires_at == T - 1h + 60s);
    CHECK(acquire(s, "b", 60s, leases::stale_lease{1, 1}) == std::nullopt);
  }
}

TEST_CASE("a lease needs an owner and a ttl of 1 ms to 365 days") {
  store s;
  witness unchanged{s};
  for (auto ttl : {0ms, -1ms, millis::max(), millis{365 * 24h} + 1ms})
    CHECK(error_of([&] { acquire(s, "a", ttl); }) == errc::invalid_argument);
  CHECK(error_of([&] { acquire(s, ""); }) == errc::invalid_argument);
  CHECK(unchanged.saw_nothing());
}

TEST_CASE("H33: lock names that join to the same text are two locks") {
  store s;
  auto take = [&](const char* name) {
    return s.write(
      [&](transaction& tx) { return leases::acquire(tx, name, "a", 60s); });
  };
  auto first = *take("a:b/c");
  CHECK(take("a/b:c"));
  CHECK(release(s, first));
  transaction tx{s.db, transaction::access::read};
  auto all = leases::list(tx);
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "a/b:c");
  CHECK(all[0].owner == "a");
  CHECK(all[1].name == "a:b/c");
  CHECK(all[1].owner.empty());
}
