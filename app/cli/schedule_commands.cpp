// schedule add, list, show, remove, pause, resume, next.

#include "app/cli/commands.hpp"
#include "app/json/nearest.hpp"
#include "app/json/schedule_record.hpp"
#include "substrate/schedules.hpp"
#include "substrate/spec.hpp"

#include <algorithm>
#include <iostream>

namespace alkstore::cli {

namespace {

[[noreturn]] void refuse_missing(transaction& tx, const std::string& name) {
  std::vector<std::string> names;
  for (auto& x : schedules::list(tx))
    names.push_back(x.name);
  std::vector<std::string_view> known{names.begin(), names.end()};
  throw failure{errc::not_found, "schedule " + shown(name) + ": there is none"
                                   + did_you_mean(name, known)};
}

schedule get(transaction& tx, const std::string& name) {
  try {
    return schedules::get(tx, name);
  } catch (const failure& why) {
    if (why.code() != errc::not_found)
      throw;
  }
  refuse_missing(tx, name);
}

bool change(transaction& tx, const schedule_change_command& what) {
  switch (what.what) {
    case schedule_change_command::action::pause:
      return schedules::pause(tx, what.name);
    case schedule_change_command::action::resume:
      return schedules::resume(tx, what.name);
    default: return schedules::remove(tx, what.name);
  }
}

std::string changed_text(const schedule_change_command& what, bool changed) {
  switch (what.what) {
    case schedule_change_command::action::pause:
      return changed ? "paused" : "was paused already";
    case schedule_change_command::action::resume:
      return changed ? "goes on" : "was not paused";
    default: return "removed";
  }
}

} // namespace

void run(session& s, const schedule_add_command& what) {
  schedule_request wanted{what.name, what.spec, what.queue, "", what.options};
  if (what.payload.given())
    wanted.payload = read_payload(what.payload);
  auto db = s.open_to_write();
  transaction tx{db};
  auto stored = schedules::add(tx, wanted);
  tx.commit();
  s.out().show(schedule_record(stored));
}

void run(session& s, const schedule_list_command&) {
  auto db = s.open_to_read();
  transaction tx{db, transaction::access::read};
  std::vector<record> rows;
  for (auto& x : schedules::list(tx))
    rows.push_back(schedule_record(x));
  s.out().show(rows, {"name", "spec", "queue", "paused", "next_fire_at"});
}

void run(session& s, const schedule_show_command& what) {
  auto db = s.open_to_read();
  transaction tx{db, transaction::access::read};
  auto found = get(tx, what.name);
  if (what.payload)
    std::cout << found.payload;
  else
    s.out().show(schedule_record(found));
}

void run(session& s, const schedule_change_command& what) {
  auto db = s.open_to_write();
  transaction tx{db};
  get(tx, what.name); // refuses with a hint what is not there
  auto changed = change(tx, what);
  tx.commit();
  s.out().tell("schedule " + what.name + " " + changed_text(what, changed),
               {{"name", what.name}, {"changed", changed}});
}

void run(session& s, const schedule_next_command& what) {
  auto db = s.open_to_read();
  transaction tx{db, transaction::access::read};
  auto found = what.name.empty() ? schedules::list(tx)
                                 : std::vector{get(tx, what.name)};
  struct boundary {
    timestamp at;
    const schedule* of;
  };
  std::vector<boundary> next;
  for (auto& x : found) {
    auto interval = parse_spec(x.spec);
    auto at = x.next_fire_at;
    for (int i = 0; i < what.count && !x.paused; ++i, at += interval) {
      next.push_back({at, &x});
      if (interval > timestamp::max() - at)
        break; // beyond all time
    }
  }
  std::stable_sort(next.begin(), next.end(),
                   [](auto& a, auto& b) { return a.at < b.at; });
  if (next.size() > static_cast<size_t>(what.count))
    next.resize(static_cast<size_t>(what.count));
  std::vector<record> rows;
  rows.reserve(next.size());
  for (auto& x : next)
    rows.push_back({{"fire_at", x.at},
                    {"in_ms", x.at - tx.now()},
                    {"schedule", x.of->name},
                    {"queue", x.of->queue}});
  if (rows.empty() && !what.name.empty())
    std::cerr << "alkstore: schedule " << what.name << " is paused\n";
  s.out().show(rows, {"fire_at", "in_ms", "schedule", "queue"});
}

} // namespace alkstore::cli
