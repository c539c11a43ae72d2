// The store's rules in plain C++: maps in memory, no SQL, no index, no batch.
#pragma once

#include "substrate/jobs.hpp"
#include "substrate/schedules.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace alkstore::model {

/// A job that waits or runs.
struct live_job {
  job what;
  timestamp at{}; ///< run_at, or the deadline while it is claimed
  bool claimed = false;
};

struct mark {
  int64_t id = 0;
  timestamp until{};
};

struct kept_schedule {
  schedule what;
  millis interval{};
  int64_t order = 0; ///< as registered; decides among equals
};

/// Where the rules leave the choice open (which of several old rows a bounded
/// piece deletes), the store chose first: true if it has that row no more.
using gone = std::function<bool(const char* table, int64_t id)>;

/// All methods are those of the substrate, at the time `now`.
class model {
public:
  explicit model(const store_rules& rules) : rules_(rules) {}

  timestamp now{std::chrono::seconds{1'700'000'000}};
  gone chosen;

  std::map<int64_t, live_job> live;
  std::map<int64_t, job> dead;
  std::map<std::pair<std::string, std::string>, mark> marks;
  std::map<std::string, lease> locks;
  std::map<std::string, kept_schedule> schedules;
  int64_t last_id = 0;

  // -- jobs

  int64_t enqueue(const queue_name& queue, const std::string& payload,
                  const job_options& options);
  job get(int64_t id) const;
  std::vector<job> list(const queue_name& queue, int64_t after, int max) const;
  bool cancel(int64_t id);
  int sweep(int max);
  std::map<std::string, jobs::queue_stats> stats() const;

  // -- claims

  std::vector<job> claim(const queue_name& queue, const std::string& worker,
                         int max, int startable);
  void ack(const claim_handle& x);
  void retry(const claim_handle& x, const std::string& error,
             std::optional<millis> delay);
  void fail(const claim_handle& x, const std::string& error);
  claim_handle heartbeat(const claim_handle& x, millis extend);
  void release(const claim_handle& x);
  std::optional<timestamp> next_claim_at(const queue_name& queue) const;

  // -- dead letters and marks

  std::vector<job> list_dead(const queue_name& queue, int64_t after,
                             int max) const;
  bool requeue(int64_t id);
  bool remove_dead(int64_t id);
  int remove_older(timestamp until, int max);
  int forget_lapsed(int max);

  // -- locks

  std::optional<lease> acquire(const std::string& name,
                               const std::string& owner, millis ttl,
                               const std::optional<leases::stale_lease>& stale);
  lease renew(const lease& held);
  bool release_lock(const lease& held);
  bool holds(const lease& held) const;

  // -- schedules

  schedule add(const schedule_request& wanted, std::optional<millis> interval);
  bool remove_schedule(const std::string& name);
  bool pause(const std::string& name);
  bool resume(const std::string& name);
  tick_report tick(const lease& held, int max_jobs);
  std::optional<timestamp> soonest() const;

  /// The times at which something is due or over.
  std::vector<timestamp> edges() const;

private:
  int64_t insert(const queue_name& queue, const std::string& payload,
                 const job_options& options);
  void check(const job_options& options) const;
  void check_payload(const std::string& payload) const;
  bool is_running(const live_job& x) const { return x.claimed && now < x.at; }
  const char* cause_of_death(const live_job& x) const;
  live_job& held(const claim_handle& x);
  kept_schedule& named(const std::string& name);
  std::optional<int64_t> holder(const std::string& queue,
                                const std::string& key);
  void bury(int64_t id, const std::string& error);

  store_rules rules_;
};

} // namespace alkstore::model
