// The machinery that outbox_delivery and queue_worker share: take what was
// claimed, have it handled, settle it.
#pragma once

#include "actors/actors.hpp"
#include "actors/alarm.hpp"
#include "actors/event.hpp"
#include "actors/stop_reply.hpp"
#include "substrate/clock.hpp"

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace alkstore {

/// Makes a handler; called again when the one before has died. The consumer
/// owns what it gets: it ends the handler when it ends itself.
using handler_factory = std::function<handler_actor(caf::actor_system&)>;

struct consumer_options {
  std::string name;    ///< of the queue or the outbox
  std::string worker;  ///< unique per instance; kept on the claimed rows
  int concurrency = 8; ///< jobs that are being handled at once
  int credit = 8;      ///< jobs in hand at once, >= concurrency
  const clock* time = &clock::system();
  event_sink report = [](const event&) {};
};

/// Internal: the actor behind outbox_delivery.hpp and queue_worker.hpp.
class consumer : public consumer_actor::base {
public:
  enum class kind : uint8_t { queue, outbox };

  consumer(caf::actor_config& cfg, kind what, consumer_options options,
           handler_actor handler, writer_actor writer, reader_actor reader);

  void on_exit() override;

protected:
  behavior_type make_behavior() override;

  /// Has one job handled; ends with finish(). By default the handler does it.
  virtual void begin(job x, millis limit);

  /// The job is over; what became of it goes to the writer.
  void finish(settlement x);

private:
  /// A claim in the hands of the handler.
  struct run {
    claim_handle claim;
    int attempts = 0;
    int max_attempts = 0;
    timestamp deadline;
    alkstore::steady_time since;
    bool checking = false; ///< the store is being asked about its deadline
    bool lapsed = false;   ///< and the handler has been told
  };
  /// A job of which only the settlement is left to do.
  struct finished {
    settlement how;
    event report;
  };
  using key = std::pair<int64_t, int64_t>; ///< job id, claim number

  void take(std::vector<job> jobs);
  void start_some(size_t fresh);
  void hand_back(const claim_handle& x);
  void take_back(const claim_handle& claim);
  void give_up_handler(const caf::error& why);
  void fail_what_it_held();
  void died_at_work(const claim_handle& claim);
  void conclude(const claim_handle& claim, const verdict& x);
  void look_at_deadlines();
  void check_claim(run& x);
  void wake_by(timestamp when);
  void flush();
  void settled_as(std::vector<finished> batch, const settled& x);
  void wind_up();
  void end_if_idle();

  kind kind_;
  consumer_options options_;
  const alkstore::clock& time_;
  handler_actor handler_;
  writer_actor writer_;
  reader_actor reader_;

  std::deque<job> waiting_;        ///< claimed, not started
  std::map<key, run> running_;     ///< started
  std::vector<finished> finished_; ///< not yet with the writer
  int settling_ = 0;               ///< batches that are with the writer

  bool handler_ended_ = false;
  bool ending_ = false;  ///< takes no more jobs
  bool revoked_ = false; ///< and none is on its way
  caf::error reason_;    ///< to end with: none for normal, failed for a handler
                         ///< that died at work
  stop_reply stopping_;

  alarm<deadline_due> deadline_;
  timestamp wake_at_{}; ///< what deadline_ is set for
  alarm<flush_verdicts> flush_;
};

} // namespace alkstore
