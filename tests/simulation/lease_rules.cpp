// What a commit may do to a lease and to a schedule.
#include "substrate/leases.hpp"
#include "substrate/schedules.hpp"
#include "tests/simulation/oracle.hpp"

namespace alkstore::sim {

void oracle::judge_leases(const commit& x) {
  for (auto& [name, before] : x.before.leases)
    if (state_.leases.count(name) == 0)
      throw violation{"lease " + name + ": the row is gone, and its token"};
  for (auto& [name, after] : state_.leases) {
    auto found = x.before.leases.find(name);
    auto before = found == x.before.leases.end() ? lease_row{} : found->second;
    if (after == before)
      continue;
    auto broken = [&](const std::string& what) {
      throw violation{"lease " + name + " of " + before.owner + ", token "
                      + std::to_string(before.token) + ": " + what};
    };
    notes_.note("lease " + name + ": token " + std::to_string(after.token)
                + " of process " + std::to_string(process_of(after.owner))
                + " renewal " + std::to_string(after.renewals));
    auto& seen = renewed_[name];
    auto unchanged_for = x.uptime - seen.since;
    auto of_own = process_of(before.owner) == x.process;
    auto good = !before.owner.empty() && before.expires_at > x.now;
    if (after.token > before.token) {
      auto stale = name == leases::scheduler
                   && unchanged_for > std::chrono::milliseconds{before.ttl};
      if (after.token != before.token + 1)
        broken("the token jumped");
      if (good && !stale && !of_own && !x.outcome_unknown)
        broken("taken while it was held");
    } else if (after.token < before.token) {
      broken("the token went back");
    } else if (after.owner.empty()) {
      if (!of_own && !x.outcome_unknown)
        broken("released by another");
    } else if (after.owner != before.owner) {
      broken("another owner has the same token");
    } else if (after.renewals < before.renewals) {
      broken("renewed backwards");
    } else if (!good && !x.outcome_unknown) {
      broken("renewed after its deadline");
    }
    seen = {after.token, after.renewals, x.uptime};
  }
}

void oracle::judge_schedules(const commit& x,
                             const std::vector<int64_t>& touched) {
  std::map<std::string, std::vector<int64_t>> fired;
  for (auto id : touched) {
    auto after = state_.jobs.find(id);
    if (after != state_.jobs.end() && x.before.jobs.count(id) == 0
        && !after->second.schedule.empty())
      fired[after->second.schedule].push_back(after->second.fire_at);
  }
  auto broken = [](const std::string& name, const std::string& what) {
    throw violation{"schedule " + name + ": " + what};
  };
  if (!fired.empty() && !x.outcome_unknown) {
    auto held = x.before.leases.find(std::string{leases::scheduler});
    if (held == x.before.leases.end()
        || process_of(held->second.owner) != x.process
        || held->second.expires_at <= x.now)
      broken(fired.begin()->first, "fired by process "
                                     + std::to_string(x.process)
                                     + ", which does not hold the lease");
  }
  for (auto& [name, before] : x.before.schedules)
    if (state_.schedules.count(name) == 0)
      fired_.erase(name);
  for (auto& [name, boundaries] : fired) {
    auto before = x.before.schedules.find(name);
    if (before == x.before.schedules.end() || before->second.paused)
      broken(name, "fired while there was none, or while it was paused");
    auto expected = before->second.next_fire_at;
    if (static_cast<int64_t>(boundaries.size()) > schedules::catch_up_cap)
      broken(name, std::to_string(boundaries.size())
                     + " boundaries fired in one tick");
    for (auto at : boundaries) {
      if (at != expected)
        broken(name, "fired " + std::to_string(at) + ", expected "
                       + std::to_string(expected));
      if (at > x.now && !x.outcome_unknown)
        broken(name, "fired before its time");
      if (!fired_[name].insert(at).second)
        broken(name, "boundary " + std::to_string(at) + " fired twice");
      expected += before->second.interval;
    }
  }
  for (auto& [name, after] : state_.schedules) {
    auto found = x.before.schedules.find(name);
    if (found == x.before.schedules.end()
        || found->second.interval != after.interval) {
      fired_.erase(name); // a new grid
      continue;
    }
    auto& before = found->second;
    auto step = after.next_fire_at - before.next_fire_at;
    if (step < 0 || step % before.interval != 0)
      broken(name, "left its grid, or went back on it");
    auto passed = step / before.interval;
    auto count = fired.count(name) ? static_cast<int64_t>(fired[name].size())
                                   : 0;
    auto resumed = before.paused && !after.paused;
    auto capped = count == schedules::catch_up_cap && passed > count;
    if (passed != count && !resumed && !capped)
      broken(name, std::to_string(passed) + " boundaries passed, "
                     + std::to_string(count) + " fired");
  }
}

} // namespace alkstore::sim
