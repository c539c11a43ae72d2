#include "tests/system/store_view.hpp"

#include "substrate/dead_letters.hpp"
#include "substrate/jobs.hpp"
#include "substrate/schedules.hpp"

namespace alkstore::test {

namespace {

constexpr open_options reading{.read_only = true};

std::string text_of(timestamp when) {
  return std::to_string(when.time_since_epoch().count());
}

} // namespace

std::vector<int64_t> put_messages(const std::string& file,
                                  const std::string& outbox,
                                  const std::vector<std::string>& payloads,
                                  const job_options& options) {
  connection db{file, {.sync = durability::normal}};
  transaction tx{db};
  std::vector<int64_t> ids;
  for (auto& x : payloads)
    ids.push_back(jobs::enqueue(tx, queue_name::outbox(outbox), x, options));
  tx.commit();
  return ids;
}

store_view::store_view(const std::string& file) : db_(file, reading) {}

int64_t store_view::number(const char* query) {
  auto row = db_.sql(query);
  return row.step() ? row.integer(0) : -1;
}

std::string store_view::text(const char* query) {
  auto row = db_.sql(query);
  return row.step() ? row.bytes(0) : "";
}

job store_view::get(int64_t id) {
  transaction tx{db_, transaction::access::read};
  return jobs::get(tx, id);
}

std::vector<job> store_view::dead(const std::string& outbox) {
  transaction tx{db_, transaction::access::read};
  return dead_letters::list(tx, queue_name::outbox(outbox), 0, 1000);
}

std::set<std::string> store_view::payloads() {
  std::set<std::string> out;
  auto row = db_.sql("SELECT payload FROM alkstore_payloads");
  while (row.step())
    out.insert(row.bytes(0));
  return out;
}

std::map<std::string, std::multiset<timestamp>> store_view::boundaries() {
  std::map<std::string, std::multiset<timestamp>> out;
  auto row = db_.sql("SELECT schedule, fire_at FROM alkstore_jobs "
                     "WHERE schedule IS NOT NULL");
  while (row.step())
    out[row.bytes(0)].insert(row.time(1));
  return out;
}

std::string store_view::boundary_faults(millis interval) {
  // One snapshot for both: a tick may come in between.
  transaction tx{db_, transaction::access::read};
  std::string faults;
  auto fired = boundaries();
  for (auto& x : schedules::list(tx)) {
    auto& times = fired[x.name];
    if (times.empty())
      faults += x.name + " never fired\n";
    std::optional<timestamp> last;
    for (auto now : times) {
      if (last && now != *last + interval)
        faults += x.name + ": " + text_of(now) + " follows " + text_of(*last)
                  + "\n";
      last = now;
    }
    if (last && x.next_fire_at != *last + interval)
      faults += x.name + ": fires next at " + text_of(x.next_fire_at)
                + ", last at " + text_of(*last) + "\n";
  }
  return fired.empty() ? "no schedules" : faults;
}

} // namespace alkstore::test
