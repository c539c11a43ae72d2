// The store under the names of the model, and the rows of both as text.
#pragma once

#include "substrate/dedupe.hpp"
#include "substrate/outbox.hpp"
#include "tests/model/model.hpp"
#include "tests/substrate/fixture.hpp"

namespace alkstore::model {

/// An open transaction.
class real_store {
public:
  explicit real_store(transaction& tx) : tx_(tx) {}

  bool has(const char* table, int64_t id);
  std::string stable_id(int64_t id);

  int64_t enqueue(const queue_name& queue, const std::string& payload,
                  const job_options& options);
  job get(int64_t id) { return jobs::get(tx_, id); }
  std::vector<job> list(const queue_name& queue, int64_t after, int max) {
    return jobs::list(tx_, queue, after, max);
  }
  bool cancel(int64_t id) { return jobs::cancel(tx_, id); }
  int sweep(int max) { return jobs::sweep_expired(tx_, max); }
  std::map<std::string, jobs::queue_stats> stats();

  std::vector<job> claim(const queue_name& queue, const std::string& worker,
                         int max, int startable) {
    return claims::claim(tx_, queue, worker, max, startable);
  }
  void ack(const claim_handle& x) { claims::ack(tx_, x); }
  void retry(const claim_handle& x, const std::string& error,
             std::optional<millis> delay) {
    claims::retry(tx_, x, error, delay);
  }
  void fail(const claim_handle& x, const std::string& error) {
    claims::fail(tx_, x, error);
  }
  claim_handle heartbeat(const claim_handle& x, millis extend) {
    return claims::heartbeat(tx_, x, extend);
  }
  void release(const claim_handle& x) { claims::release(tx_, x); }
  std::optional<timestamp> next_claim_at(const queue_name& queue) {
    return claims::next_claim_at(tx_, queue);
  }

  std::vector<job> list_dead(const queue_name& queue, int64_t after, int max) {
    return dead_letters::list(tx_, queue, after, max);
  }
  bool requeue(int64_t id) { return dead_letters::requeue(tx_, id); }
  bool remove_dead(int64_t id) { return dead_letters::remove(tx_, id); }
  int remove_older(timestamp until, int max) {
    return dead_letters::remove_older(tx_, until, max);
  }
  int forget_lapsed(int max) { return dedupe::forget_lapsed(tx_, max); }

  std::optional<lease>
  acquire(const std::string& name, const std::string& owner, millis ttl,
          const std::optional<leases::stale_lease>& stale) {
    return leases::acquire(tx_, name, owner, ttl, stale);
  }
  lease renew(const lease& held) { return leases::renew(tx_, held); }
  bool release_lock(const lease& held) { return leases::release(tx_, held); }
  bool holds(const lease& held) { return leases::holds(tx_, held); }

  schedule add(const schedule_request& wanted, std::optional<millis>) {
    return schedules::add(tx_, wanted);
  }
  bool remove_schedule(const std::string& name) {
    return schedules::remove(tx_, name);
  }
  bool pause(const std::string& name) { return schedules::pause(tx_, name); }
  bool resume(const std::string& name) { return schedules::resume(tx_, name); }
  tick_report tick(const lease& held, int max_jobs) {
    return schedules::tick(tx_, held, {max_jobs, 1h});
  }
  std::optional<timestamp> soonest() { return schedules::soonest(tx_); }

private:
  transaction& tx_;
};

/// Every row of every table, one a line, in one order for both.
std::string rows_of(transaction& tx);
std::string rows_of(const model& x);

// -- as text ------------------------------------------------------------------

std::string show(const job& x);
std::string show(const lease& x);
std::string show(const schedule& x);
std::string show(const claim_handle& x);
std::string show(timestamp x);

} // namespace alkstore::model
