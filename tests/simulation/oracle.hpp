// What must hold after every step, whatever went wrong.
#pragma once

#include "substrate/time.hpp"
#include "tests/simulation/journal.hpp"
#include "tests/simulation/machine.hpp"
#include "tests/simulation/snapshot.hpp"
#include "tests/simulation/violation.hpp"

#include <set>
#include <tuple>

namespace alkstore::sim {

/// One commit: what was there before it, who made it, and when.
struct commit {
  snapshot before; ///< of the jobs only those that it touched
  int process = 0;
  int64_t now = 0; ///< the wall clock once the write lock was taken
  nanos uptime{0}; ///< the machine's own
  bool outcome_unknown = false;
};

/// Follows the file from commit to commit and knows what was asked for and
/// answered. Throws a violation. The rules of jobs are in job_rules.cpp, those
/// of leases and schedules in lease_rules.cpp.
class oracle {
public:
  /// `retention`: of dead letters.
  oracle(std::string path, millis retention, machine& where, journal& notes)
    : path_(std::move(path)),
      retention_(retention.count()),
      where_(where),
      notes_(notes) {}

  // -- what the workload does -------------------------------------------------

  /// What can be asked for that takes a job from its place.
  enum class wish : uint8_t {
    ack,
    retry,
    fail,
    release,
    extend,
    cancel,
    requeue,
    remove
  };

  /// A job with this payload may come into that queue, once.
  void asked_for(const std::string& queue, const std::string& payload) {
    asked_.emplace(queue, payload);
  }

  /// It was refused, or its transaction rolled back: it must not be there, now
  /// or ever.
  void refused(const std::string& queue, const std::string& payload);

  /// Enqueued: the answer was this id.
  void answered(const std::string& queue, const std::string& payload,
                const std::string& key, int64_t id);

  /// `number`: the claim's, 0 for what needs none.
  void asked(wish what, int64_t job, int64_t number = 0) {
    wishes_.emplace(what, job, number);
  }

  /// The answer was that it is done.
  void done(wish what, int64_t job, int64_t number = 0);

  /// A worker holds this claim; a handler of this process starts on it.
  void claimed(int64_t job, int64_t number, const std::string& payload,
               int attempts, int max_attempts);
  void started(int64_t job, int64_t number);

  // -- what the file says -----------------------------------------------------

  /// The rest is read anew where something was written. `touched`: ids.
  void look(int process, timestamp locked_at, std::vector<int64_t> touched);

  /// Reads everything anew, on a new connection, and compares.
  void look_at_all(int process);

  /// Lets go of the file: nobody else has it open.
  void close() { reader_.reset(); }

  const snapshot& state() const { return state_; }
  int64_t commits() const { return commits_; }

  /// The process in the name of an instance, "sim:<process>:…".
  static int process_of(const std::string& instance);

private:
  using wished = std::tuple<wish, int64_t, int64_t>;

  bool has_asked(wish what, int64_t job, int64_t number = 0) const {
    return wishes_.count({what, job, number}) != 0;
  }

  file_reader& reader();
  void judge(const commit& x, const std::vector<int64_t>& touched);

  void judge_job(const commit& x, int64_t id);
  void judge_new(const commit& x, int64_t id, const job_row& after);
  void judge_gone(const commit& x, int64_t id, const job_row& before);
  bool was_forwarded(const job_row& before) const;
  void judge_death(const commit& x, int64_t id, const job_row& before,
                   const job_row& after);
  void judge_requeued(const commit& x, int64_t id, const job_row& before,
                      const job_row& after);
  void judge_live(const commit& x, int64_t id, const job_row& before,
                  const job_row& after);
  void judge_claim(const commit& x, int64_t id, const job_row* before,
                   const job_row& after);
  void judge_order(const commit& x, const std::vector<int64_t>& touched);

  void judge_leases(const commit& x);
  void judge_schedules(const commit& x, const std::vector<int64_t>& touched);

  std::string path_;
  int64_t retention_;
  machine& where_;
  journal& notes_;
  std::unique_ptr<file_reader> reader_;
  snapshot state_;
  int64_t commits_ = 0;

  using tagged = std::pair<std::string, std::string>; ///< queue, payload
  std::set<tagged> asked_;
  std::set<tagged> refused_;
  std::map<tagged, int64_t> seen_; ///< every caller's job there ever was
  std::set<int64_t> gone_;         ///< acked, cancelled or removed
  int64_t highest_id_ = 0;
  std::set<wished> wishes_;
  std::set<std::pair<int64_t, int64_t>> started_;

  struct renewal {
    int64_t token = 0, renewals = 0;
    nanos since{0};
  };
  std::map<std::string, renewal> renewed_;
  std::map<std::string, std::set<int64_t>> fired_; ///< per grid of a schedule
};

} // namespace alkstore::sim
