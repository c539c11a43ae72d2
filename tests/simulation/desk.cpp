#include "tests/simulation/desk.hpp"

#include "actors/callback_handler.hpp"
#include "tests/simulation/world.hpp"

namespace alkstore::sim {

using std::chrono::milliseconds;

handler_factory desk::handler() {
  return [this](caf::actor_system& sys) {
    auto number = static_cast<int>(handlers_.size());
    handlers_.push_back(spawn_callback_handler(
      sys, [this, number](delivery x, std::function<void(verdict)> conclude) {
        take(number, x.what, std::move(conclude));
      }));
    return handlers_.back();
  };
}

void desk::take(int handler, const job& x,
                std::function<void(verdict)> conclude_with) {
  if (outside_.files.is_dead(home_.process()))
    return;
  key id{x.id, x.claim.number};
  outside_.judge([&] {
    outside_.rules.claimed(x.id, x.claim.number, x.payload, x.attempts,
                           x.max_attempts);
    outside_.rules.started(x.id, x.claim.number);
  });
  outside_.notes.note(home_.name() + " starts job " + std::to_string(x.id)
                      + " claim " + std::to_string(x.claim.number));
  open_[id] = {std::move(conclude_with), handler};
  auto& luck = outside_.luck;
  auto how = outside_.calm() || !luck.one_in(4) ? verdict::outcome::delivered
             : luck.one_in(5)                   ? verdict::outcome::dead
                                                : verdict::outcome::failed;
  if (outside_.calm() || luck.below(10) < 6)
    return conclude(id, how);
  if (luck.one_in(20)) {
    outside_.rules.asked(oracle::wish::retry, x.id, x.claim.number);
    open_.erase(id);
    throw std::runtime_error{"a handler threw"};
  }
  auto late = luck.one_in(4) ? luck.between(1, 60'000) : luck.spread(1, 2000);
  outside_.plans.after(milliseconds{late}, home_.process(),
                       [this, id, how] { conclude(id, how); });
}

void desk::conclude(key id, verdict::outcome how) {
  auto found = open_.find(id);
  if (found == open_.end())
    return; // its handler has died
  auto answer = std::move(found->second.conclude);
  open_.erase(found);
  verdict said{how, {}, {}};
  auto wish = oracle::wish::ack;
  if (how != verdict::outcome::delivered) {
    said.error = "no luck";
    wish = how == verdict::outcome::dead ? oracle::wish::fail
                                         : oracle::wish::retry;
    if (outside_.luck.one_in(3))
      said.delay = millis{outside_.luck.between(0, 5000)};
  }
  outside_.rules.asked(wish, id.first, id.second);
  answer(said);
}

bool desk::kill_one() {
  if (handlers_.empty())
    return false;
  auto number = outside_.luck.below(handlers_.size());
  auto& victim = handlers_[number];
  if (!victim)
    return false;
  for (auto x = open_.begin(); x != open_.end();) {
    if (x->second.handler != static_cast<int>(number)) {
      ++x;
      continue;
    }
    outside_.rules.asked(oracle::wish::retry, x->first.first, x->first.second);
    x = open_.erase(x);
  }
  caf::anon_send_exit(victim, caf::exit_reason::kill);
  victim = nullptr;
  return true;
}

void desk::conclude_all() {
  while (!open_.empty())
    conclude(open_.begin()->first, verdict::outcome::delivered);
}

void desk::clear() {
  open_.clear();
  handlers_.clear();
}

} // namespace alkstore::sim
