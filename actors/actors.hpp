// The map of the running program: who understands which message and answers
// what. Read answer(message). The messages' fields are in messages.hpp.
//
//   runtime                 starts, watches, restarts and stops the others
//   ├─ substrate_writer     the only writer; group commit; standing claims; its
//   │                       writer_thread sees other processes' commits, too
//   ├─ substrate_reader     reads, never behind the writer
//   ├─ scheduler_leader     stands by, campaigns, leads: fires the schedules
//   │   ├─ lock_renewal     renews the lease; on loss sends the leader an error
//   │   └─ maintenance      tidies up while this node leads
//   ├─ outbox_delivery      one per outbox: claimed jobs to its handler
//   └─ queue_worker         the same for a plain queue
//   client_gateway          what other hosts get, where that is published
//
// Errors are alkstore::errc in a caf::error, as answers and as exit reasons.
#pragma once

#include "actors/inspect.hpp"

namespace alkstore {

// -- what applications talk to ------------------------------------------------

/// The store's public operations. Each answer means: it is on disk. A refusal
/// means: nothing happened. `overloaded` is answered at once when too much is
/// waiting; a time-out means that the outcome is unknown.
using store_clauses = port::clauses<
  // The job's id.
  int64_t(enqueue),
  // Their ids, in order.
  std::vector<int64_t>(enqueue_many),
  // The message's job id.
  int64_t(outbox_enqueue),
  // Up to `max` due jobs, maybe none.
  std::vector<job>(claim_jobs),
  // The claim is over, or claim_lost.
  completed(ack), completed(retry), completed(fail), completed(release),
  // The claim with its new deadline, or claim_lost.
  claim_handle(heartbeat),
  // False if it is not there.
  bool(cancel_job), bool(requeue_dead), bool(delete_dead),
  // The schedule as stored.
  schedule(add_schedule),
  // False if there is none.
  bool(remove_schedule),
  // False if nothing changed.
  bool(pause_schedule), bool(resume_schedule),
  // The lease; its token is 0 if another holds it.
  lease(acquire_lock),
  // The lease with its new deadline, or lock_lost.
  lease(renew_lock),
  // False if another holds it.
  bool(release_lock),
  // The function ran and its transaction is on disk.
  completed(transact_request)>;
using store_actor = store_clauses::handle;

/// Reads of committed state, never behind the writer's queue.
using reader_actor = port::typed<
  // A live job or a dead letter, or not_found.
  job(get_job),
  // Without payloads.
  std::vector<job>(list_jobs), std::vector<job>(list_dead),
  // Every queue that holds a job or a dead letter.
  std::vector<jobs::queue_stats>(get_stats),
  // Or not_found.
  schedule(get_schedule),
  // By name.
  std::vector<schedule>(list_schedules),
  // By name.
  std::vector<lease>(list_locks),
  // Who leads, and when something is due.
  outlook(get_outlook)>;

/// Who does the work of a queue or an outbox; written by applications. It may
/// answer late, within the time limit. An error counts as failed.
using handler_clauses = port::clauses<
  // Handles one job.
  verdict(delivery),
  // Stop if possible: that claim is lost.
  void(claim_lapsed)>;
using handler_actor = handler_clauses::handle;

/// What a program on another host may ask, where that is published. Its errors
/// are the same; it never gets at transact_request.
using client_actor = port::typed<
  // As in store_clauses.
  int64_t(enqueue), int64_t(outbox_enqueue), schedule(add_schedule),
  bool(remove_schedule),
  // As in reader_actor.
  job(get_job), std::vector<jobs::queue_stats>(get_stats)>;

/// Both sides of a running store.
struct store_handles {
  store_actor store;
  reader_actor reader;
};
ALKSTORE_INSPECT(store_handles, x.store, x.reader)

/// The supervisor, which an embedding application holds. Ends with an error
/// when something cannot be kept running.
using runtime_actor = port::typed<
  // The present handles; ask again when one of them went down.
  store_handles(get_store),
  // Everything has ended in good order, or the grace period is over.
  completed(stop),
  // Cuts the grace period short.
  void(stop_now),
  // INTERNAL: restart what is down; the grace period is over.
  void(restart_due), void(grace_over)>;

// -- inside the store ---------------------------------------------------------

/// Gets the jobs that its credit asked for: outbox_delivery, queue_worker.
using consumer_actor = port::typed<
  // Jobs claimed for it; it settles each.
  void(claimed),
  // No new jobs; unstarted ones went back, running ones were waited for.
  completed(stop),
  // INTERNAL: a claim's deadline; verdicts to send.
  void(deadline_due), void(flush_verdicts)>;

/// A consumer's standing claim: so many jobs of this queue it can take.
struct grant {
  consumer_actor consumer;
  std::string name; ///< of the queue or the outbox
  bool outbox = false;
  std::string worker;
  int credit = 0;    ///< jobs in its hands at once; 0 takes the claim back
  int startable = 0; ///< of these, how many it starts at once
};
ALKSTORE_INSPECT(grant, x.consumer, x.name, x.outbox, x.worker, x.credit,
                 x.startable)

/// A batch of settlements. Settled claims return their credit.
struct settle {
  consumer_actor consumer;
  std::vector<settlement> claims;
};
ALKSTORE_INSPECT(settle, x.consumer, x.claims)

/// Fires the schedules while it leads. Ends with leadership_lost when the lease
/// is gone, and with exit_reason::normal after stop.
using leader_actor = port::typed<
  // A schedule or the lease may have changed.
  void(store_changed),
  // The running tick ended, the lease is released.
  completed(stop),
  // INTERNAL: look at the time and the store.
  void(wake_up)>;

/// Asks the writer for store_changed messages.
struct subscribe {
  leader_actor leader;
};
ALKSTORE_INSPECT(subscribe, x.leader)

/// The only actor that writes.
using writer_actor = store_clauses::with<
  // Credit is set; nothing claimed under the old one is on its way any more.
  completed(grant),
  // Which of them counted; their credit is back.
  settled(settle),
  // What was fired, or leadership_lost.
  tick_report(tick),
  // The lease; its token is 0 if another holds it.
  lease(campaign),
  // Urgent: the lease with its new deadline, or leadership_lost.
  lease(renew_leadership),
  // False if another holds it.
  bool(release_leadership),
  // What was tidied up, or leadership_lost.
  maintenance_report(maintain),
  // store_changed follows each commit that may matter.
  void(subscribe),
  // From writer_thread: another process may have written; a name has changed.
  void(file_touched), void(file_moved),
  // Everything asked for is answered, the file is closed.
  completed(stop),
  // INTERNAL: commit what was gathered; another connection's commits; due
  // standing claims; the file's identity.
  void(flush_batch), void(look_again), void(claims_due),
  void(check_file)>::handle;

/// Renews the leader's lease. When it is lost the leader gets an error message.
using renewal_actor = port::typed<
  // The leader ends.
  void(stop_helper),
  // INTERNAL: renew; too late.
  void(renewal_due), void(renewal_overdue)>;

/// Tidies up in bounded pieces while its leader leads.
using maintenance_actor = port::typed<
  // The leader ends.
  void(stop_helper),
  // INTERNAL: the next round.
  void(maintenance_due)>;

} // namespace alkstore

// Far behind first_custom_type_id, where an application's own block begins.
CAF_BEGIN_TYPE_ID_BLOCK(alkstore, first_custom_type_id + 1000)
  CAF_ADD_TYPE_ID(alkstore, (alkstore::errc))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::claim_handle))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::job))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::lease))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::schedule))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::tick_report))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::jobs::queue_stats))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::enqueue))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::enqueue_many))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::outbox_enqueue))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::claim_jobs))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::ack))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::retry))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::fail))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::heartbeat))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::release))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::cancel_job))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::requeue_dead))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::delete_dead))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::completed))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::add_schedule))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::remove_schedule))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::pause_schedule))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::resume_schedule))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::acquire_lock))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::renew_lock))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::release_lock))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::get_job))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::list_jobs))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::list_dead))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::get_stats))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::get_schedule))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::list_schedules))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::list_locks))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::get_outlook))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::outlook))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::delivery))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::verdict))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::claim_lapsed))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::late_verdict))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::settled))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::claimed))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::tick))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::campaign))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::renew_leadership))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::release_leadership))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::maintain))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::maintenance_report))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::store_changed))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::file_touched))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::file_moved))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::stop))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::stop_now))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::stop_helper))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::flush_batch))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::look_again))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::claims_due))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::check_file))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::wake_up))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::renewal_due))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::renewal_overdue))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::maintenance_due))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::deadline_due))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::flush_verdicts))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::restart_due))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::grace_over))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::transact_request))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::store_handles))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::grant))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::settle))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::subscribe))
  CAF_ADD_TYPE_ID(alkstore, (alkstore::get_store))
  CAF_ADD_TYPE_ID(alkstore, (std::vector<int64_t>))
  CAF_ADD_TYPE_ID(alkstore, (std::vector<alkstore::job>))
  CAF_ADD_TYPE_ID(alkstore, (std::vector<alkstore::jobs::queue_stats>))
  CAF_ADD_TYPE_ID(alkstore, (std::vector<alkstore::schedule>))
  CAF_ADD_TYPE_ID(alkstore, (std::vector<alkstore::lease>))
CAF_END_TYPE_ID_BLOCK(alkstore)

PORT_ERROR_ENUM(alkstore, errc)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(alkstore::transact_request)
