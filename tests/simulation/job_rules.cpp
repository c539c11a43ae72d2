// What a commit may do to a job.
#include "tests/simulation/oracle.hpp"

#include <algorithm>

namespace alkstore::sim {

namespace {

const job_row* find(const snapshot& from, int64_t id) {
  auto found = from.jobs.find(id);
  return found == from.jobs.end() ? nullptr : &found->second;
}

[[noreturn]] void broken(int64_t id, const std::string& what) {
  throw violation{"job " + std::to_string(id) + " " + what};
}

bool held(const job_row& x, int64_t now) {
  return x.claimed && x.at > now;
}

} // namespace

void oracle::judge_job(const commit& x, int64_t id) {
  auto before = find(x.before, id);
  auto after = find(state_, id);
  if (after && gone_.count(id) != 0)
    broken(id, "was acked, cancelled or removed, and is there again");
  if (after && after->attempts > after->max_attempts)
    broken(id, "has had more attempts than it may");
  if (before && after && before->stable_id != after->stable_id)
    broken(id, "has another stable id than before");
  if (before && after && before->claim_number > after->claim_number)
    broken(id, "has a smaller claim number than before");
  if (!before && after)
    judge_new(x, id, *after);
  else if (before && !after)
    judge_gone(x, id, *before);
  else if (!before)
    return; // came and went in a transaction that rolled back
  else if (!before->dead && after->dead)
    judge_death(x, id, *before, *after);
  else if (before->dead && !after->dead)
    judge_requeued(x, id, *before, *after);
  else if (!before->dead)
    judge_live(x, id, *before, *after);
}

void oracle::judge_new(const commit& x, int64_t id, const job_row& after) {
  if (id <= highest_id_)
    broken(id, "has an id that was used before");
  highest_id_ = id;
  if (after.dead)
    broken(id, "was born dead");
  // A schedule's payload is its name: it comes again, and is forwarded.
  if (after.schedule.empty() && after.payload.front() != 's') {
    tagged tag{after.queue, after.payload};
    if (asked_.count(tag) == 0)
      broken(id, "with " + after.payload + " was asked for by nobody");
    if (refused_.count(tag) != 0)
      broken(id, "with " + after.payload + " was refused, and is there");
    if (!seen_.emplace(tag, id).second)
      broken(id, "with " + after.payload + " is there for the second time");
    // What a queue forwards to an outbox has the same payload there.
    if (after.queue == "chain")
      asked_for("__alkstore_outbox:out", after.payload);
  }
  auto mark = x.before.marks.find({after.queue, after.key});
  if (!after.key.empty() && mark != x.before.marks.end()
      && mark->second.until > x.now)
    broken(id, "has a dedupe key that was acked not long ago");
  if (after.claim_number > 0)
    judge_claim(x, id, nullptr, after);
}

void oracle::judge_gone(const commit& x, int64_t id, const job_row& before) {
  gone_.insert(id);
  if (before.dead) {
    if (!has_asked(wish::remove, id) && x.now - before.at < retention_)
      broken(id, "was a dead letter, and nobody asked for its end");
    return;
  }
  auto acked = held(before, x.now)
               && (has_asked(wish::ack, id, before.claim_number)
                   || was_forwarded(before));
  if (!acked && !has_asked(wish::cancel, id))
    broken(id, "is gone without an ack of its present claim ("
                 + std::to_string(before.claim_number)
                 + ") within its deadline");
}

// Its new job has an id that was not judged yet.
bool oracle::was_forwarded(const job_row& before) const {
  return before.queue == "chain"
         && std::any_of(state_.jobs.upper_bound(highest_id_), state_.jobs.end(),
                        [&](auto& x) {
                          return x.second.queue == "__alkstore_outbox:out"
                                 && x.second.payload == before.payload;
                        });
}

void oracle::judge_death(const commit& x, int64_t id, const job_row& before,
                         const job_row& after) {
  auto& cause = after.last_error;
  auto running = held(before, x.now);
  auto settled = running
                 && (has_asked(wish::fail, id, before.claim_number)
                     || has_asked(wish::retry, id, before.claim_number));
  if (settled)
    return;
  auto released = after.attempts == before.attempts - 1; // just before
  if (running && !released)
    broken(id, "died (" + cause + ") in the hands of its worker");
  auto exhausted = before.attempts >= before.max_attempts;
  auto expired = before.expires_at && *before.expires_at <= x.now;
  if (cause == "max attempts exceeded" ? !exhausted : !expired)
    broken(id, "died of '" + cause + "' without reason");
}

void oracle::judge_requeued(const commit& x, int64_t id, const job_row& before,
                            const job_row& after) {
  if (!has_asked(wish::requeue, id))
    broken(id, "rose from the dead, and nobody asked for it");
  if (after.claim_number > before.claim_number)
    judge_claim(x, id, nullptr, after);
  else if (after.attempts != 0)
    broken(id, "was requeued with attempts");
}

void oracle::judge_live(const commit& x, int64_t id, const job_row& before,
                        const job_row& after) {
  if (after.claim_number > before.claim_number)
    return judge_claim(x, id, &before, after);
  if (before == after)
    return;
  if (!held(before, x.now)) {
    // It may have died in this commit and have been requeued in it.
    auto mortal = before.attempts >= before.max_attempts
                  || (before.expires_at && *before.expires_at <= x.now);
    if (!mortal || !has_asked(wish::requeue, id) || after.run_at != x.now)
      broken(id, "changed without a claim");
    return;
  }
  if (after.claimed) {
    if (after.at < before.at
        || !has_asked(wish::extend, id, before.claim_number))
      broken(id, "has another deadline, and no heartbeat asked for it");
  } else if (process_of(before.worker) != x.process
             && !has_asked(wish::retry, id, before.claim_number)
             && !has_asked(wish::release, id, before.claim_number)) {
    broken(id, "was handed back by another than its worker");
  }
}

void oracle::judge_claim(const commit& x, int64_t id, const job_row* before,
                         const job_row& after) {
  if (!after.claimed
      || after.claim_number
             - (before ? before->claim_number : after.claim_number - 1)
           != 1)
    broken(id, "has a new claim number without one claim more");
  if (process_of(after.worker) != x.process && !x.outcome_unknown)
    broken(id, "was claimed for another process");
  if (!x.outcome_unknown && after.at != x.now + after.visibility)
    broken(id, "has the deadline " + std::to_string(after.at)
                 + ", but its claim began at " + std::to_string(x.now) + " for "
                 + std::to_string(after.visibility));
  if (!before)
    return;
  auto handed_back = has_asked(wish::retry, id, before->claim_number)
                     || has_asked(wish::release, id, before->claim_number)
                     || process_of(before->worker) == x.process;
  if (held(*before, x.now) && !handed_back)
    broken(id, "was claimed while another worker held it");
  if (!before->claimed && before->at > x.now)
    broken(id, "was claimed before it was due");
}

// Of the jobs that were due before and wait on, none goes before one that was
// claimed.
void oracle::judge_order(const commit& x, const std::vector<int64_t>& touched) {
  if (x.outcome_unknown)
    return;
  using place = std::tuple<int, int64_t, int64_t>; // smallest first
  std::map<std::string, place> last;               // claimed, per queue
  for (auto id : touched) {
    auto after = find(state_, id);
    auto before = find(x.before, id);
    if (!after || after->dead
        || after->claim_number == (before ? before->claim_number : 0))
      continue;
    auto at = before && !before->dead && before->at <= x.now ? before->at
                                                             : after->run_at;
    auto& worst = last.emplace(after->queue, place{-99, 0, 0}).first->second;
    worst = std::max(worst, place{-after->priority, at, id});
  }
  if (last.empty())
    return;
  for (auto& [id, row] : state_.jobs) {
    auto queue = last.find(row.queue);
    if (row.dead || queue == last.end() || row.at > x.now)
      continue;
    auto before = find(x.before, id); // none: it was not touched
    if (std::binary_search(touched.begin(), touched.end(), id)
        && (!before || *before != row))
      continue;
    if (place{-row.priority, row.at, id} < queue->second)
      broken(id, "waits, and one behind it in its queue was claimed");
  }
}

} // namespace alkstore::sim
