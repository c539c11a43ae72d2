// Every message: plain structs, each with the inspect() that CAF wants.
// Who sends which to whom: actors.hpp.
#pragma once

#include "actors/caf_port.hpp"
#include "substrate/jobs.hpp"
#include "substrate/schedules.hpp"
#include "substrate/transact.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace alkstore {

// -- to the store: jobs -------------------------------------------------------

/// Puts a job into a user's queue.
struct enqueue {
  std::string queue;
  std::string payload;
  job_options options;
};

/// Several jobs, in one transaction: all or none.
struct enqueue_many {
  std::vector<enqueue> jobs;
};

/// Puts a message into an outbox.
struct outbox_enqueue {
  std::string outbox;
  std::string payload;
  job_options options;
};

/// Takes up to `max` due jobs of a user's queue.
struct claim_jobs {
  std::string queue;
  std::string worker;
  int max = 1;
};

struct ack {
  claim_handle claim;
};

/// Failed this time. Without a delay the job's own backoff decides.
struct retry {
  claim_handle claim;
  std::string error;
  std::optional<millis> delay;
};

/// Failed for good.
struct fail {
  claim_handle claim;
  std::string error;
};

struct heartbeat {
  claim_handle claim;
  millis extend{};
};

struct release {
  claim_handle claim;
};

struct cancel_job {
  int64_t id = 0;
};

struct requeue_dead {
  int64_t id = 0;
};

struct delete_dead {
  int64_t id = 0;
};

/// The answer where there is nothing to say but: it is on disk.
struct completed {};

// -- to the store: schedules, locks, transactions -----------------------------

struct add_schedule {
  schedule_request wanted;
};

/// Also called unschedule.
struct remove_schedule {
  std::string name;
};

struct pause_schedule {
  std::string name;
};

struct resume_schedule {
  std::string name;
};

/// `owner` is unique per contender.
struct acquire_lock {
  std::string name;
  std::string owner;
  millis ttl{};
};

struct renew_lock {
  lease held;
};

struct release_lock {
  lease held;
};

/// Runs a function of the caller's in a transaction of its own on the store's
/// connection. It must not wait for an actor. Within this process only.
struct transact_request {
  transact_function work;
};

// -- to the reader ------------------------------------------------------------

struct get_job {
  int64_t id = 0;
};

/// Live jobs of a user's queue in id order, behind id `after`.
struct list_jobs {
  std::string queue;
  int64_t after = 0;
  int max = 100;
};

/// Dead letters of a user's queue (or, with `outbox`, of an outbox).
struct list_dead {
  std::string name;
  bool outbox = false;
  int64_t after = 0;
  int max = 100;
};

struct get_stats {};

struct get_schedule {
  std::string name;
};

struct list_schedules {};

struct list_locks {};

/// Asks for what the scheduler needs to decide what to do next.
struct get_outlook {};

struct outlook {
  lease leadership;                  ///< token 0: nobody ever led
  std::optional<timestamp> boundary; ///< the soonest of all schedules
  timestamp now{};                   ///< the reader's wall clock
};

/// Asks the runtime for the handles of the store.
struct get_store {};

// -- handlers: what a consumer and the one who does the work say --------------

/// One job to be handled.
struct delivery {
  job what;
  millis time_limit{}; ///< answer within this, or the claim may be lost
};

/// What became of it.
struct verdict {
  enum class outcome : uint8_t { delivered, failed, dead };

  outcome what = outcome::delivered;
  std::string error;           ///< empty when delivered
  std::optional<millis> delay; ///< failed: instead of the job's backoff

  static verdict delivered() { return {}; }
  static verdict failed(std::string why, std::optional<millis> delay = {}) {
    return {outcome::failed, std::move(why), delay};
  }
  static verdict dead(std::string why) {
    return {outcome::dead, std::move(why), {}};
  }
};

/// The claim's deadline passed while the handler was at work: another worker
/// may have the job now, and the verdict will not count.
struct claim_lapsed {
  claim_handle claim;
};

/// A callback handler's own: what its callback concluded about delivery
/// `number`.
struct late_verdict {
  int64_t number = 0;
  verdict what;
};

// -- between the writer and the other actors ----------------------------------

/// How a consumer ends one claim.
struct settlement {
  enum class action : uint8_t { ack, retry, fail, release, forward };

  claim_handle claim;
  action what = action::ack;
  std::string error;           ///< retry, fail
  std::optional<millis> delay; ///< retry
  std::string outbox;          ///< forward: ack, and the payload goes there
  std::string payload;         ///< forward
};

/// One entry a settlement: errc{} for completed, else why it did not count.
struct settled {
  std::vector<errc> results;
};

/// A batch of claimed jobs for a consumer that gave credit.
struct claimed {
  std::vector<job> jobs;
};

/// The leader's request to fire what is due.
struct tick {
  lease leadership;
};

/// A standby's request to lead. `stale`: see leases::stale_lease.
struct campaign {
  std::string owner;
  millis ttl{};
  std::optional<leases::stale_lease> stale;
};

/// Urgent and committed alone.
struct renew_leadership {
  lease held;
};

struct release_leadership {
  lease held;
};

/// The leader's request to tidy up, a bounded piece at a time.
struct maintain {
  lease leadership;
};

struct maintenance_report {
  int buried = 0;    ///< expired or exhausted jobs, now dead letters
  int removed = 0;   ///< dead letters past the retention
  int forgotten = 0; ///< lapsed dedupe marks
  bool more = false; ///< another piece is due at once
};

/// Something committed that may matter to the scheduler: a schedule changed, or
/// another connection wrote.
struct store_changed {};

/// Another connection may have committed.
struct file_touched {};

/// The path may no longer name the open file.
struct file_moved {};

/// Ends an actor in good order; the answer comes when it is done.
struct stop {};

/// Ends what a stop is still waiting for.
struct stop_now {};

/// The leader ends, and with it what works on its behalf.
struct stop_helper {};

// -- timers: what an actor sends itself. An old generation is dropped ---------

/// Writer: commit what was gathered.
struct flush_batch {
  int64_t generation = 0;
};

/// Writer: has another connection committed by now?
struct look_again {
  int64_t generation = 0;
};

/// Writer: a job that a standing claim waits for is due.
struct claims_due {
  int64_t generation = 0;
};

/// Writer: does the path still name the file?
struct check_file {
  int64_t generation = 0;
};

/// Leader: look at the time and the store.
struct wake_up {
  int64_t generation = 0;
};

/// Renewal: renew now.
struct renewal_due {
  int64_t generation = 0;
};

/// Renewal: two thirds of the ttl have passed since the last good one.
struct renewal_overdue {
  int64_t generation = 0;
};

/// Maintenance: the next round.
struct maintenance_due {
  int64_t generation = 0;
};

/// Consumer: the soonest deadline of a running job.
struct deadline_due {
  int64_t generation = 0;
};

/// Consumer: send the verdicts that have come in.
struct flush_verdicts {
  int64_t generation = 0;
};

/// Runtime: restart what is down.
struct restart_due {
  int64_t generation = 0;
};

/// Runtime: the grace period of a stop is over.
struct grace_over {
  int64_t generation = 0;
};

} // namespace alkstore
