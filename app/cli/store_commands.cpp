// locks, leader, stats, backup, vacuum.

#include "app/cli/commands.hpp"
#include "app/cli/progress.hpp"
#include "substrate/copies.hpp"
#include "substrate/jobs.hpp"
#include "substrate/leases.hpp"
#include "substrate/schedules.hpp"
#include "substrate/schema.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace alkstore::cli {

namespace {

bool held(const lease& what, timestamp now) {
  return !what.owner.empty() && now < what.expires_at;
}

record lease_record(const lease& what, timestamp now) {
  return {{"name", what.name},
          {"held", held(what, now)},
          {"owner", maybe_text(what.owner)},
          {"token", what.token},
          {"renewals", what.renewals},
          {"ttl_ms", what.ttl},
          {"expires_at", what.expires_at}};
}

std::string size_text(int64_t bytes) {
  return std::to_string(bytes / 1024) + " KiB";
}

std::optional<lease> leader(connection& db) {
  transaction tx{db, transaction::access::read};
  auto found = leases::get(tx, leases::scheduler);
  if (found && !held(*found, tx.now()))
    found.reset();
  return found;
}

} // namespace

void run(session& s, const locks_command&) {
  auto db = s.open_to_read();
  transaction tx{db, transaction::access::read};
  std::vector<record> rows;
  for (auto& x : leases::list(tx))
    rows.push_back(lease_record(x, tx.now()));
  s.out().show(rows,
               {"name", "held", "owner", "token", "ttl_ms", "expires_at"});
}

void run(session& s, const leader_command&) {
  auto db = s.open_to_read();
  auto found = leader(db);
  record out{{"leads", found.has_value()}};
  if (found)
    for (auto& x : lease_record(*found, clock::system().wall_now()))
      if (x.key != "name" && x.key != "held")
        out.push_back(x);
  s.out().show(out);
}

void run(session& s, const stats_command&) {
  auto db = s.open_to_read();
  auto size = sizes(db);
  transaction tx{db, transaction::access::read};
  jobs::queue_stats sum;
  auto queues = jobs::stats(tx);
  for (auto& x : queues) {
    sum.waiting += x.waiting;
    sum.delayed += x.delayed;
    sum.running += x.running;
    sum.dead += x.dead;
  }
  auto all = schedules::list(tx);
  auto paused = std::count_if(all.begin(), all.end(),
                              [](const schedule& x) { return x.paused; });
  auto lead = leases::get(tx, leases::scheduler);
  auto leads = lead && held(*lead, tx.now());
  s.out().show(record{
    {"database", std::filesystem::absolute(db.path()).string()},
    {"schema_version", int64_t{schema_version}},
    {"file_bytes", size.file},
    {"free_bytes", size.free},
    {"wal_bytes", size.wal},
    {"queues", static_cast<int64_t>(queues.size())},
    {"waiting", sum.waiting},
    {"delayed", sum.delayed},
    {"running", sum.running},
    {"dead", sum.dead},
    {"schedules", static_cast<int64_t>(all.size())},
    {"paused_schedules", static_cast<int64_t>(paused)},
    {"next_fire_at", maybe(schedules::soonest(tx))},
    {"leader", leads ? cell{lead->owner} : cell{}},
  });
}

void run(session& s, const backup_command& what) {
  auto db = s.open_to_read();
  {
    progress told{"copying"};
    back_up(db, what.target, [&](double done) { told.show(done); });
  }
  auto bytes = static_cast<int64_t>(std::filesystem::file_size(what.target));
  s.out().tell(what.target + ": " + size_text(bytes),
               {{"file", what.target}, {"bytes", bytes}});
}

void run(session& s, const vacuum_command&) {
  auto db = s.open_to_write();
  if (auto leads = leader(db))
    std::cerr << "alkstore: a node leads here (" << leads->owner
              << "): its writes wait until this is done\n";
  auto before = sizes(db);
  {
    progress told{"writing the file anew"};
    vacuum(db, [&](double) { told.show(-1); });
  }
  auto after = sizes(db);
  s.out().tell("from " + size_text(before.file) + " to "
                 + size_text(after.file),
               {{"bytes_before", before.file}, {"bytes_after", after.file}});
}

} // namespace alkstore::cli
