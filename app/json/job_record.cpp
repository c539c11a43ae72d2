#include "app/json/job_record.hpp"

#include <string_view>

namespace alkstore {

namespace {

std::string state_text(const job& what, timestamp now) {
  switch (what.state) {
    case job_state::running: return "running";
    case job_state::dead: return "dead";
    default: return now < what.run_at ? "delayed" : "waiting";
  }
}

} // namespace

record job_record(const job& what, timestamp now) {
  constexpr std::string_view outbox = "__alkstore_outbox:";
  auto sent = what.queue.starts_with(outbox);
  cell name = sent ? what.queue.substr(outbox.size()) : what.queue;
  cell deadline, key;
  if (what.state == job_state::running)
    deadline = what.claim.deadline;
  if (!what.dedupe_key.empty())
    key = raw_bytes{what.dedupe_key};
  return {
    {"id", what.id},
    {"state", state_text(what, now)},
    {"queue", sent ? cell{} : name},
    {"outbox", sent ? name : cell{}},
    {"priority", int64_t{what.priority}},
    {"attempts", int64_t{what.attempts}},
    {"max_attempts", int64_t{what.max_attempts}},
    {"run_at", what.run_at},
    {"enqueued_at", what.enqueued_at},
    {"expires_at", maybe(what.expires_at)},
    {"claim_deadline", deadline},
    {"worker", maybe_text(what.worker)},
    {"visibility_timeout_ms", what.visibility_timeout},
    {"backoff_base_ms", what.backoff_base},
    {"dedupe_key", key},
    {"schedule", maybe_text(what.schedule)},
    {"fire_at", maybe(what.fire_at)},
    {"last_error", maybe_text(what.last_error)},
    {"died_at", maybe(what.died_at)},
    {"stable_id", what.stable_id},
  };
}

record whole_job_record(const job& what, timestamp now) {
  auto out = job_record(what, now);
  out.push_back({"payload", raw_bytes{what.payload}});
  return out;
}

} // namespace alkstore
