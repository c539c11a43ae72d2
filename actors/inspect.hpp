// How CAF sees into the messages: each type's fields, in order.
#pragma once

#include "actors/messages.hpp"

// One line a type; the name is the one in CAF's own logs.
#define ALKSTORE_INSPECT(type, ...)                                            \
  template <class Inspector>                                                   \
  auto inspect(Inspector& f, type& x) {                                        \
    return port::inspect(f, x, #type __VA_OPT__(, ) __VA_ARGS__);              \
  }

namespace alkstore {

ALKSTORE_INSPECT(job_options, x.priority, x.delay, x.run_at, x.expires_in,
                 x.max_attempts, x.visibility_timeout, x.backoff_base,
                 x.dedupe_key)
ALKSTORE_INSPECT(claim_handle, x.job, x.number, x.deadline)
ALKSTORE_INSPECT(job, x.id, x.stable_id, x.queue, x.payload, x.state,
                 x.priority, x.attempts, x.max_attempts, x.visibility_timeout,
                 x.backoff_base, x.enqueued_at, x.run_at, x.expires_at, x.claim,
                 x.worker, x.dedupe_key, x.schedule, x.fire_at, x.last_error,
                 x.died_at)
ALKSTORE_INSPECT(lease, x.name, x.owner, x.token, x.renewals, x.ttl,
                 x.expires_at)
ALKSTORE_INSPECT(schedule, x.name, x.spec, x.queue, x.payload, x.options,
                 x.next_fire_at, x.paused)
ALKSTORE_INSPECT(schedule_request, x.name, x.spec, x.queue, x.payload,
                 x.options)
ALKSTORE_INSPECT(firing, x.schedule, x.queue, x.job, x.fire_at)
ALKSTORE_INSPECT(skipped_boundaries, x.schedule, x.count)
ALKSTORE_INSPECT(tick_report, x.fired, x.skipped, x.now, x.soonest)

namespace jobs {
ALKSTORE_INSPECT(queue_stats, x.queue, x.waiting, x.delayed, x.running, x.dead)
} // namespace jobs

namespace leases {
ALKSTORE_INSPECT(stale_lease, x.token, x.renewals)
} // namespace leases

ALKSTORE_INSPECT(enqueue, x.queue, x.payload, x.options)
ALKSTORE_INSPECT(enqueue_many, x.jobs)
ALKSTORE_INSPECT(outbox_enqueue, x.outbox, x.payload, x.options)
ALKSTORE_INSPECT(claim_jobs, x.queue, x.worker, x.max)
ALKSTORE_INSPECT(ack, x.claim)
ALKSTORE_INSPECT(retry, x.claim, x.error, x.delay)
ALKSTORE_INSPECT(fail, x.claim, x.error)
ALKSTORE_INSPECT(heartbeat, x.claim, x.extend)
ALKSTORE_INSPECT(release, x.claim)
ALKSTORE_INSPECT(cancel_job, x.id)
ALKSTORE_INSPECT(requeue_dead, x.id)
ALKSTORE_INSPECT(delete_dead, x.id)
ALKSTORE_INSPECT(completed)
ALKSTORE_INSPECT(add_schedule, x.wanted)
ALKSTORE_INSPECT(remove_schedule, x.name)
ALKSTORE_INSPECT(pause_schedule, x.name)
ALKSTORE_INSPECT(resume_schedule, x.name)
ALKSTORE_INSPECT(acquire_lock, x.name, x.owner, x.ttl)
ALKSTORE_INSPECT(renew_lock, x.held)
ALKSTORE_INSPECT(release_lock, x.held)
ALKSTORE_INSPECT(get_job, x.id)
ALKSTORE_INSPECT(list_jobs, x.queue, x.after, x.max)
ALKSTORE_INSPECT(list_dead, x.name, x.outbox, x.after, x.max)
ALKSTORE_INSPECT(get_stats)
ALKSTORE_INSPECT(get_schedule, x.name)
ALKSTORE_INSPECT(list_schedules)
ALKSTORE_INSPECT(list_locks)
ALKSTORE_INSPECT(get_outlook)
ALKSTORE_INSPECT(outlook, x.leadership, x.boundary, x.now)
ALKSTORE_INSPECT(get_store)
ALKSTORE_INSPECT(delivery, x.what, x.time_limit)
ALKSTORE_INSPECT(verdict, x.what, x.error, x.delay)
ALKSTORE_INSPECT(claim_lapsed, x.claim)
ALKSTORE_INSPECT(late_verdict, x.number, x.what)
ALKSTORE_INSPECT(settlement, x.claim, x.what, x.error, x.delay, x.outbox,
                 x.payload)
ALKSTORE_INSPECT(settled, x.results)
ALKSTORE_INSPECT(claimed, x.jobs)
ALKSTORE_INSPECT(tick, x.leadership)
ALKSTORE_INSPECT(campaign, x.owner, x.ttl, x.stale)
ALKSTORE_INSPECT(renew_leadership, x.held)
ALKSTORE_INSPECT(release_leadership, x.held)
ALKSTORE_INSPECT(maintain, x.leadership)
ALKSTORE_INSPECT(maintenance_report, x.buried, x.removed, x.forgotten, x.more)
ALKSTORE_INSPECT(store_changed)
ALKSTORE_INSPECT(file_touched)
ALKSTORE_INSPECT(file_moved)
ALKSTORE_INSPECT(stop)
ALKSTORE_INSPECT(stop_now)
ALKSTORE_INSPECT(stop_helper)
ALKSTORE_INSPECT(flush_batch, x.generation)
ALKSTORE_INSPECT(look_again, x.generation)
ALKSTORE_INSPECT(claims_due, x.generation)
ALKSTORE_INSPECT(check_file, x.generation)
ALKSTORE_INSPECT(wake_up, x.generation)
ALKSTORE_INSPECT(renewal_due, x.generation)
ALKSTORE_INSPECT(renewal_overdue, x.generation)
ALKSTORE_INSPECT(maintenance_due, x.generation)
ALKSTORE_INSPECT(deadline_due, x.generation)
ALKSTORE_INSPECT(flush_verdicts, x.generation)
ALKSTORE_INSPECT(restart_due, x.generation)
ALKSTORE_INSPECT(grace_over, x.generation)

} // namespace alkstore
