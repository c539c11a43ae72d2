#include "tests/simulation/oracle.hpp"

#include <algorithm>

namespace alkstore::sim {

namespace {

std::string describe(int64_t id, const job_row& x) {
  if (x.dead)
    return "job " + std::to_string(id) + ": dead in " + x.queue + ", "
           + x.last_error;
  return "job " + std::to_string(id) + ": " + x.queue + " at "
         + std::to_string(x.at) + (x.claimed ? " claim " : " waits ")
         + std::to_string(x.claim_number) + " attempt "
         + std::to_string(x.attempts) + "/" + std::to_string(x.max_attempts);
}

} // namespace

// -- what the workload does ---------------------------------------------------

void oracle::refused(const std::string& queue, const std::string& payload) {
  refused_.emplace(queue, payload);
  if (seen_.count({queue, payload}) != 0)
    throw violation{payload + " was refused, and is in " + queue};
}

void oracle::answered(const std::string& queue, const std::string& payload,
                      const std::string& key, int64_t id) {
  auto found = seen_.find({queue, payload});
  auto stored = found != seen_.end() && found->second == id;
  auto repeat = found == seen_.end() && !key.empty() && id <= highest_id_;
  if (!stored && !repeat)
    throw violation{payload + " was answered as job " + std::to_string(id)
                    + " of " + queue + ", which never was in the file"};
}

void oracle::done(wish what, int64_t job, int64_t number) {
  auto there = state_.jobs.find(job);
  auto gone = gone_.count(job) != 0;
  if (!gone && there == state_.jobs.end())
    throw violation{"job " + std::to_string(job)
                    + " was answered about, and never was in the file"};
  auto moved_on = gone || there->second.dead
                  || there->second.claim_number > number;
  switch (what) {
    case wish::ack:
    case wish::cancel:
    case wish::remove:
      if (!gone)
        throw violation{"job " + std::to_string(job)
                        + " was answered as acked, cancelled or removed, and "
                          "is there"};
      break;
    case wish::retry:
    case wish::release:
      if (!moved_on && there->second.claimed)
        throw violation{"job " + std::to_string(job)
                        + " was answered as handed back, and is claimed"};
      break;
    case wish::fail:
      if (!moved_on && !has_asked(wish::requeue, job))
        throw violation{"job " + std::to_string(job)
                        + " was answered as failed, and is live"};
      break;
    case wish::extend:
    case wish::requeue: break;
  }
}

void oracle::claimed(int64_t job, int64_t number, const std::string& payload,
                     int attempts, int max_attempts) {
  auto there = state_.jobs.find(job);
  auto text = "claim " + std::to_string(number) + " of job "
              + std::to_string(job);
  if (attempts > max_attempts)
    throw violation{text + " is attempt " + std::to_string(attempts) + " of "
                    + std::to_string(max_attempts)};
  if (job > highest_id_
      || (there != state_.jobs.end() && there->second.claim_number < number))
    throw violation{text + " is not in the file"};
  if (there != state_.jobs.end() && there->second.payload != payload)
    throw violation{text + " has another payload than the file"};
}

void oracle::started(int64_t job, int64_t number) {
  if (!started_.emplace(job, number).second)
    throw violation{"claim " + std::to_string(number) + " of job "
                    + std::to_string(job) + " is started twice"};
}

// -- what the file says -------------------------------------------------------

file_reader& oracle::reader() {
  if (!reader_)
    reader_ = std::make_unique<file_reader>(path_);
  return *reader_;
}

void oracle::look(int process, timestamp locked_at,
                  std::vector<int64_t> touched) {
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  commit x;
  x.process = process;
  x.now = locked_at.time_since_epoch().count();
  x.uptime = where_.uptime();
  try {
    x.before = reader().read_again(state_, touched);
  } catch (const std::runtime_error& why) {
    throw violation{why.what()};
  }
  for (auto id : touched)
    if (auto after = state_.jobs.find(id); after != state_.jobs.end())
      notes_.note(describe(id, after->second));
    else if (x.before.jobs.count(id) != 0)
      notes_.note("job " + std::to_string(id) + ": gone");
  ++commits_;
  judge(x, touched);
}

void oracle::look_at_all(int process) {
  close();
  snapshot fresh;
  try {
    fresh = reader().read_all();
  } catch (const std::runtime_error& why) {
    throw violation{why.what()};
  }
  std::vector<int64_t> touched;
  for (auto& [id, row] : state_.jobs)
    if (auto now = fresh.jobs.find(id);
        now == fresh.jobs.end() || now->second != row)
      touched.push_back(id);
  for (auto& [id, row] : fresh.jobs)
    if (state_.jobs.count(id) == 0)
      touched.push_back(id);
  if (fresh == state_)
    return;
  // What was neither answered nor seen by anybody came up after recovery.
  notes_.note("recovered");
  commit x;
  x.process = process;
  x.now = where_.wall_now().time_since_epoch().count();
  x.uptime = where_.uptime();
  x.outcome_unknown = true;
  x.before = std::exchange(state_, std::move(fresh));
  judge(x, touched);
}

int oracle::process_of(const std::string& instance) {
  auto at = instance.find(':');
  return at == std::string::npos ? 0 : std::atoi(instance.c_str() + at + 1);
}

void oracle::judge(const commit& x, const std::vector<int64_t>& touched) {
  for (auto id : touched)
    judge_job(x, id);
  judge_order(x, touched);
  judge_leases(x);
  judge_schedules(x, touched);
}

} // namespace alkstore::sim
