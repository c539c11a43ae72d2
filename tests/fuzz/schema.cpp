// A store's file with other bytes in some places. The input is a sequence of
// five bytes each: where (three bytes, low first), and what (two bytes).
#include "substrate/claims.hpp"
#include "substrate/dead_letters.hpp"
#include "substrate/schedules.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/temp_dir.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace alkstore::fuzz {

namespace {

const auto q = queue_name::plain("q");

// Something in every table, in a file of few pages.
std::string make_store(const std::string& path) {
  {
    connection db{path, {.sync = durability::normal}};
    sqlite3_exec(db.handle(),
                 "PRAGMA page_size = 512; PRAGMA journal_mode ="
                 " DELETE; VACUUM; PRAGMA journal_mode = WAL",
                 nullptr, nullptr, nullptr);
    transaction tx{db};
    for (int i = 0; i < 6; ++i)
      jobs::enqueue(tx, q, "payload", {.expires_in = millis{100'000}});
    jobs::enqueue(tx, q, "x", {.dedupe_key = "k"});
    for (auto& x : claims::claim(tx, q, "w", 3))
      claims::fail(tx, x.claim, "error");
    for (auto& x : claims::claim(tx, q, "w", 4))
      x.dedupe_key.empty() ? claims::retry(tx, x.claim, "again")
                           : claims::ack(tx, x.claim);
    schedules::add(tx, {"s", "@every 1m", "q", "p", {.priority = 3}});
    leases::acquire(tx, leases::scheduler, "me", millis{60'000});
    tx.commit();
  }
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

void use(const std::string& path, bool read_only) {
  connection db{path,
                {.sync = durability::normal,
                 .read_only = read_only,
                 .busy_timeout = millis{0}}};
  transaction tx{db, read_only ? transaction::access::read
                               : transaction::access::write};
  jobs::stats(tx);
  schedules::list(tx);
  schedules::soonest(tx);
  leases::list(tx);
  for (auto& x : jobs::list(tx, q, 0, 100))
    jobs::get(tx, x.id);
  for (auto& x : dead_letters::list(tx, q, 0, 100))
    dead_letters::get(tx, x.id);
  if (read_only)
    return;
  jobs::enqueue(tx, q, "new", {.dedupe_key = "k"});
  jobs::sweep_expired(tx, 100);
  for (auto& x : claims::claim(tx, q, "w", 10))
    claims::retry(tx, x.claim, "again");
  if (auto held = leases::acquire(tx, leases::scheduler, "me", millis{1000}))
    schedules::tick(tx, *held);
  tx.commit();
}

} // namespace

void schema(std::string_view input) {
  static const test::temp_dir dir;
  static const std::string good = make_store(dir.path("good.db"));
  auto bytes = good;
  for (; input.size() >= 5; input.remove_prefix(5)) {
    auto byte = [&](size_t i) {
      return static_cast<size_t>(static_cast<unsigned char>(input[i]));
    };
    auto at = (byte(0) | byte(1) << 8 | byte(2) << 16) % (bytes.size() - 1);
    bytes[at] = input[3];
    bytes[at + 1] = input[4];
  }
  auto path = dir.path("damaged.db");
  for (auto read_only : {true, false}) {
    for (auto suffix : {"-wal", "-shm", "-journal"})
      ::unlink((path + suffix).c_str());
    std::ofstream{path, std::ios::binary} << bytes;
    try {
      use(path, read_only);
    } catch (const failure& why) {
      require(why.code() != errc{}, "a failure has a code");
      require(*why.what() != '\0', "and a text");
    }
  }
}

} // namespace alkstore::fuzz
