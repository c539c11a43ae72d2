#include "actors/store_operations.hpp"

#include "substrate/claims.hpp"
#include "substrate/dead_letters.hpp"
#include "substrate/dedupe.hpp"

#include <algorithm>
#include <span>

namespace alkstore {

namespace {

// Rows that one piece of maintenance touches at most, so that its transaction
// stays short.
constexpr int maintenance_rows = 500;

// The answer of who did not get a lease: token 0.
lease not_taken(std::string_view name) {
  lease out;
  out.name = name;
  return out;
}

void settle_one(transaction& tx, const settlement& x, effects& seen) {
  switch (x.what) {
    case settlement::action::ack: return claims::ack(tx, x.claim);
    case settlement::action::fail: return claims::fail(tx, x.claim, x.error);
    case settlement::action::release:
      seen.standing.touch_all();
      return claims::release(tx, x.claim);
    case settlement::action::retry:
      seen.standing.touch_all();
      return claims::retry(tx, x.claim, x.error, x.delay);
    case settlement::action::forward: {
      auto outbox = queue_name::outbox(x.outbox);
      jobs::check_payload(tx, x.payload);
      claims::ack(tx, x.claim);
      jobs::enqueue(tx, outbox, x.payload);
      seen.standing.touch(outbox.text());
      return;
    }
  }
}

// What came of it; a fault of the store, which ends the batch, is thrown.
errc try_to_settle(transaction& tx, const settlement& x, effects& seen) {
  try {
    settle_one(tx, x, seen);
    return {};
  } catch (const failure& why) {
    // These come before any change.
    if (why.code() != errc::claim_lost && why.code() != errc::payload_too_large
        && why.code() != errc::invalid_argument)
      throw;
    return why.code();
  }
}

// The first, and those behind it that could be acked with it by
// claims::ack_neighbours.
std::span<const settlement> neighbours(std::span<const settlement> all) {
  auto belong_together = [](const settlement& a, const settlement& b) {
    return a.what == settlement::action::ack && b.what == a.what
           && a.claim.number == b.claim.number
           && claims::follows(a.claim.job, b.claim.job);
  };
  size_t n = 1;
  while (n < all.size() && belong_together(all[n - 1], all[n]))
    ++n;
  return all.first(n);
}

void require_leadership(transaction& tx, const lease& held) {
  if (!leases::holds(tx, held))
    throw failure{errc::leadership_lost,
                  "lease " + held.name + ", token " + std::to_string(held.token)
                    + ": its deadline passed or another leads"};
}

} // namespace

// -- jobs ---------------------------------------------------------------------

std::vector<int64_t> run_in(transaction& tx, const enqueue_many& x,
                            effects& seen) {
  std::vector<queue_name> queues;
  queues.reserve(x.jobs.size());
  std::vector<jobs::new_job> wanted;
  wanted.reserve(x.jobs.size());
  for (auto& one : x.jobs) {
    auto& queue = queues.emplace_back(queue_name::plain(one.queue));
    wanted.push_back({queue, one.payload, one.options});
  }
  auto ids = jobs::enqueue(tx, wanted);
  for (auto& queue : queues)
    seen.standing.touch(queue.text());
  return ids;
}

std::vector<job> run_in(transaction& tx, const claim_jobs& x, effects& seen) {
  auto queue = queue_name::plain(x.queue);
  if (x.max < 1)
    throw failure{errc::invalid_argument, "claim of " + std::to_string(x.max)
                                            + " jobs: it is at least 1"};
  seen.standing.touch(queue.text()); // its deadlines count from now on
  return claims::claim(tx, queue, x.worker, x.max);
}

completed run_in(transaction& tx, const ack& x, effects&) {
  claims::ack(tx, x.claim);
  return {};
}

completed run_in(transaction& tx, const retry& x, effects& seen) {
  claims::retry(tx, x.claim, x.error, x.delay);
  seen.standing.touch_all();
  return {};
}

completed run_in(transaction& tx, const fail& x, effects&) {
  claims::fail(tx, x.claim, x.error);
  return {};
}

completed run_in(transaction& tx, const release& x, effects& seen) {
  claims::release(tx, x.claim);
  seen.standing.touch_all();
  return {};
}

claim_handle run_in(transaction& tx, const heartbeat& x, effects&) {
  return claims::heartbeat(tx, x.claim, x.extend);
}

bool run_in(transaction& tx, const cancel_job& x, effects&) {
  return jobs::cancel(tx, x.id);
}

bool run_in(transaction& tx, const requeue_dead& x, effects& seen) {
  seen.standing.touch_all();
  return dead_letters::requeue(tx, x.id);
}

bool run_in(transaction& tx, const delete_dead& x, effects&) {
  return dead_letters::remove(tx, x.id);
}

// -- schedules, locks, transactions -------------------------------------------

schedule run_in(transaction& tx, const add_schedule& x, effects& seen) {
  seen.scheduler_concerned = true;
  return schedules::add(tx, x.wanted);
}

bool run_in(transaction& tx, const remove_schedule& x, effects&) {
  return schedules::remove(tx, x.name);
}

bool run_in(transaction& tx, const pause_schedule& x, effects&) {
  return schedules::pause(tx, x.name);
}

bool run_in(transaction& tx, const resume_schedule& x, effects& seen) {
  seen.scheduler_concerned = true;
  return schedules::resume(tx, x.name);
}

lease run_in(transaction& tx, const acquire_lock& x, effects&) {
  check_name("lock", x.name);
  return leases::acquire(tx, x.name, x.owner, x.ttl)
    .value_or(not_taken(x.name));
}

lease run_in(transaction& tx, const renew_lock& x, effects&) {
  check_name("lock", x.held.name);
  return leases::renew(tx, x.held);
}

bool run_in(transaction& tx, const release_lock& x, effects&) {
  check_name("lock", x.held.name);
  return leases::release(tx, x.held);
}

completed run_in(transaction& tx, const transact_request& x, effects& seen) {
  transact(tx, x.work, seen.transact_limit);
  seen.standing.touch_all();
  seen.scheduler_concerned = true;
  return {};
}

// -- consumers ----------------------------------------------------------------

settled run_in(transaction& tx, const settle& x, effects& seen) {
  settled out;
  out.results.reserve(x.claims.size());
  for (auto rest = std::span{x.claims}; !rest.empty();) {
    auto some = neighbours(rest);
    if (some.size() > 1
        && claims::ack_neighbours(tx, some.front().claim, some.size()))
      out.results.insert(out.results.end(), some.size(), errc{});
    else
      for (auto& one : some)
        out.results.push_back(try_to_settle(tx, one, seen));
    rest = rest.subspan(some.size());
  }
  auto unstarted = std::any_of(x.claims.begin(), x.claims.end(), [](auto& one) {
    return one.what == settlement::action::release;
  });
  seen.standing.give_back(x.consumer.address(),
                          static_cast<int>(x.claims.size()), unstarted);
  return out;
}

// -- the leader ---------------------------------------------------------------

tick_report run_in(transaction& tx, const tick& x, effects& seen) {
  auto report = schedules::tick(tx, x.leadership);
  for (auto& fired : report.fired)
    seen.standing.touch(fired.queue);
  return report;
}

lease run_in(transaction& tx, const campaign& x, effects&) {
  return leases::acquire(tx, leases::scheduler, x.owner, x.ttl, x.stale)
    .value_or(not_taken(leases::scheduler));
}

lease run_in(transaction& tx, const renew_leadership& x, effects&) {
  try {
    return leases::renew(tx, x.held);
  } catch (const failure& why) {
    if (why.code() == errc::lock_lost)
      throw failure{errc::leadership_lost, why.what()};
    throw;
  }
}

bool run_in(transaction& tx, const release_leadership& x, effects&) {
  return leases::release(tx, x.held);
}

maintenance_report run_in(transaction& tx, const maintain& x, effects& seen) {
  require_leadership(tx, x.leadership);
  maintenance_report out;
  auto room = [&] {
    return maintenance_rows - out.buried - out.removed - out.forgotten;
  };
  out.buried = jobs::sweep_expired(tx, room());
  out.removed = dead_letters::remove_older(tx, tx.now() - seen.retention,
                                           room());
  out.forgotten = dedupe::forget_lapsed(tx, room());
  out.more = room() == 0;
  return out;
}

} // namespace alkstore
