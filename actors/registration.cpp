#include "actors/registration.hpp"

#include <algorithm>

namespace alkstore {

namespace {

void tell(const event_sink& report, std::string what, std::string name,
          std::string text) {
  event x;
  x.what = std::move(what);
  x.name = std::move(name);
  x.text = std::move(text);
  report(x);
}

void register_one(transaction& tx, const schedule_request& wanted,
                  const std::vector<schedule>& stored,
                  std::vector<event>& events) {
  auto report = [&](const event& x) { events.push_back(x); };
  auto now = schedules::add(tx, wanted);
  auto before = std::find_if(stored.begin(), stored.end(),
                             [&](auto& x) { return x.name == wanted.name; });
  auto rule = wanted.spec + " into queue " + wanted.queue;
  if (before == stored.end())
    tell(report, "schedule added", wanted.name, rule);
  else if (before->spec != wanted.spec || before->queue != wanted.queue)
    tell(report, "schedule changed", wanted.name,
         before->spec + " into queue " + before->queue + " is now " + rule);
  if (now.paused)
    tell(report, "schedule paused", wanted.name, "it stays so until resumed");
}

} // namespace

void register_schedules(const writer_options& store,
                        const std::vector<schedule_request>& wanted) {
  connection db{store.path, store.open, *store.time};
  transaction tx{db};
  auto stored = schedules::list(tx);
  std::vector<event> events;
  for (auto& x : wanted)
    register_one(tx, x, stored, events);
  std::string others;
  for (auto& x : stored)
    if (std::none_of(wanted.begin(), wanted.end(),
                     [&](auto& y) { return y.name == x.name; }))
      others += (others.empty() ? "" : ", ") + x.name;
  if (!others.empty())
    tell([&](const event& x) { events.push_back(x); }, "not configured here",
         others, "stored schedules that go on firing");
  tx.commit();
  for (auto& x : events)
    store.report(x);
}

} // namespace alkstore
