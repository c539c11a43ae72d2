#include "actors/consumer.hpp"

#include "actors/errors.hpp"

#include <algorithm>

namespace alkstore {

namespace {

// A settlement that met a passing store fault is sent again after this.
constexpr millis settle_pause{250};

// A deadline is slept for in pieces: the steady clock stands still while the
// machine is suspended.
constexpr millis longest_sleep{5000};

// What a delivery leaves of its claim for the settlement: 5 s, or a fifth.
constexpr millis settle_reserve{5000};

millis time_limit(millis left) {
  return left - std::min(settle_reserve, left / 5);
}

// From here on an older claim is handed back instead of started.
timestamp half_time(const job& x) {
  return x.claim.deadline - x.visibility_timeout / 2;
}

} // namespace

consumer::consumer(caf::actor_config& cfg, kind what, consumer_options options,
                   handler_actor handler, writer_actor writer,
                   reader_actor reader)
  : consumer_actor::base(cfg),
    kind_(what),
    options_(std::move(options)),
    time_(*options_.time),
    handler_(std::move(handler)),
    writer_(std::move(writer)),
    reader_(std::move(reader)) {}

void consumer::on_exit() {
  if (!running_.empty()) {
    event report;
    report.severity = event::level::warning;
    report.what = "cut";
    report.name = options_.name;
    report.text = std::to_string(running_.size())
                  + " running; their claims wait for their deadlines";
    options_.report(report);
  }
  if (handler_)
    caf::anon_send_exit(handler_, caf::exit_reason::user_shutdown);
  stopping_.abandon(name());
  handler_ = nullptr;
  writer_ = nullptr;
  reader_ = nullptr;
  waiting_.clear();
}

consumer::behavior_type consumer::make_behavior() {
  if (handler_)
    port::watch(this, handler_,
                [this](const caf::actor_addr&, const caf::error& why) {
                  give_up_handler(why);
                  handler_ended_ = true;
                  // This news is urgent: what came back from the handler's
                  // mailbox is still to come.
                  flush_.set_now(this);
                });
  port::ask(this, caf::infinite, writer_,
            grant{consumer_actor{this}, options_.name, kind_ == kind::outbox,
                  options_.worker, options_.credit, options_.concurrency})
    .then([](completed) {}, [this](const caf::error& why) { quit(why); });
  return {
    [this](claimed& x) { take(std::move(x.jobs)); },
    [this](stop) {
      auto promise = stopping_.promise(this);
      wind_up();
      return promise;
    },
    [this](deadline_due x) {
      if (deadline_.due(x))
        look_at_deadlines();
    },
    [this](flush_verdicts x) {
      if (!flush_.due(x))
        return;
      if (handler_ended_)
        fail_what_it_held();
      flush();
    },
  };
}

// -- starting jobs ------------------------------------------------------------

void consumer::take(std::vector<job> jobs) {
  auto fresh = jobs.size();
  for (auto& x : jobs)
    wake_by(half_time(x));
  std::move(jobs.begin(), jobs.end(), std::back_inserter(waiting_));
  if (ending_) {
    for (auto& x : waiting_)
      hand_back(x.claim);
    waiting_.clear();
    return;
  }
  start_some(fresh);
}

// `fresh`: how many at the back have only just been claimed. Those are always
// started, so that nothing circles between two consumers; an older claim is
// started only while half of its visibility timeout is left.
void consumer::start_some(size_t fresh) {
  while (!waiting_.empty()) {
    auto& next = waiting_.front();
    auto left = next.claim.deadline - time_.wall_now();
    auto worth_it = left > millis{0}
                    && (waiting_.size() <= fresh
                        || left >= next.visibility_timeout / 2);
    if (!worth_it) {
      hand_back(next.claim);
      waiting_.pop_front();
      continue;
    }
    if (running_.size() >= static_cast<size_t>(options_.concurrency))
      break;
    auto x = std::move(next);
    waiting_.pop_front();
    running_.emplace(key{x.id, x.claim.number},
                     run{x.claim, x.attempts, x.max_attempts, x.claim.deadline,
                         time_.steady_now()});
    wake_by(x.claim.deadline);
    begin(std::move(x), time_limit(left));
  }
}

void consumer::hand_back(const claim_handle& x) {
  event report;
  report.what = "released";
  report.name = options_.name;
  report.job = x.job;
  finished_.push_back(
    {{x, settlement::action::release, {}, {}, {}, {}}, report});
  if (!flush_.is_set())
    flush_.set_now(this);
}

void consumer::begin(job x, millis limit) {
  auto claim = x.claim;
  port::ask(this, caf::infinite, handler_, delivery{std::move(x), limit})
    .then([this, claim](const verdict& v) { conclude(claim, v); },
          [this, claim](const caf::error& why) {
            // It came back from a dead handler's mailbox, or found it dead.
            if (why == caf::sec::request_receiver_down) {
              give_up_handler(why);
              take_back(claim);
            } else if (port::receiver_failed(why)) {
              give_up_handler(why);
              died_at_work(claim);
            } else {
              conclude(claim, verdict::failed(sentence(system(), why)));
            }
          });
}

void consumer::take_back(const claim_handle& claim) {
  auto found = running_.find({claim.job, claim.number});
  if (found == running_.end())
    return;
  hand_back(found->second.claim);
  running_.erase(found);
}

// The requests that bounce off a dead handler may come before the message that
// says that it ended: they must not start more jobs, at an attempt each.
void consumer::give_up_handler(const caf::error& why) {
  if (!reason_) // `failed` stands for a death at work
    reason_ = !why ? caf::make_error(caf::exit_reason::user_shutdown)
              : code_of(why) == errc::failed
                ? caf::make_error(caf::sec::runtime_error,
                                  sentence(system(), why))
                : why;
  wind_up();
}

void consumer::fail_what_it_held() {
  auto held = running_;
  for (auto& [id, x] : held)
    died_at_work(x.claim);
}

// A job has paid for it with an attempt, so this cannot go on for ever.
void consumer::died_at_work(const claim_handle& claim) {
  if (code_of(reason_) != errc::failed)
    reason_ = make_error(errc::failed, "the handler has ended: "
                                         + sentence(system(), reason_));
  conclude(claim, verdict::failed(sentence(system(), reason_)));
}

// -- ending jobs --------------------------------------------------------------

void consumer::conclude(const claim_handle& claim, const verdict& x) {
  using enum settlement::action;
  switch (x.what) {
    case verdict::outcome::delivered:
      finish({claim, ack, {}, {}, {}, {}});
      break;
    case verdict::outcome::failed:
      finish({claim, retry, x.error, x.delay, {}, {}});
      break;
    case verdict::outcome::dead:
      finish({claim, fail, x.error, {}, {}, {}});
      break;
  }
  start_some(0);
}

void consumer::finish(settlement x) {
  auto found = running_.find({x.claim.job, x.claim.number});
  if (found == running_.end())
    return; // the handler died before this answer came
  auto& ran = found->second;
  auto last = ran.attempts >= ran.max_attempts;
  auto failed = x.what == settlement::action::retry;
  event report;
  report.what = x.what == settlement::action::ack       ? "delivered"
                : x.what == settlement::action::forward ? "forwarded"
                : failed && !last                       ? "failed"
                                                        : "dead";
  report.severity = x.error.empty() ? event::level::info
                                    : event::level::warning;
  report.name = options_.name;
  report.job = ran.claim.job;
  report.attempt = ran.attempts;
  report.max_attempts = ran.max_attempts;
  report.took = time_.steady_now() - ran.since;
  report.text = x.what == settlement::action::forward ? "to outbox " + x.outbox
                                                      : x.error;
  running_.erase(found);
  finished_.push_back({std::move(x), std::move(report)});
  if (!flush_.is_set())
    flush_.set_now(this);
}

// One batch at a time, so that it grows while the writer is busy; and a second
// one when there is nothing left to handle, so that the writer goes from one to
// the next.
void consumer::flush() {
  auto idle = running_.empty() && waiting_.empty();
  if (finished_.empty() || settling_ > (idle ? 1 : 0))
    return;
  ++settling_;
  auto batch = std::exchange(finished_, {});
  settle message{consumer_actor{this}, {}};
  message.claims.reserve(batch.size());
  for (auto& x : batch)
    message.claims.push_back(x.how);
  // Kept until it is on disk: after a store fault it is sent once more.
  auto kept = std::make_shared<std::vector<finished>>(std::move(batch));
  port::ask(this, caf::infinite, writer_, std::move(message))
    .then([this, kept](const settled& x) { settled_as(std::move(*kept), x); },
          [this, kept](const caf::error&) {
            --settling_;
            finished_.insert(finished_.begin(), kept->begin(), kept->end());
            flush_.set(this, settle_pause);
          });
}

void consumer::settled_as(std::vector<finished> batch, const settled& x) {
  --settling_;
  for (size_t i = 0; i < batch.size(); ++i) {
    auto& report = batch[i].report;
    if (auto code = x.results[i]; code != errc{}) {
      report.severity = event::level::warning;
      report.text = to_string(code) + " (was: " + report.what + ") "
                    + report.text;
      report.what = "not counted";
    }
    options_.report(report);
  }
  flush();
  end_if_idle();
}

// -- deadlines ----------------------------------------------------------------

// Waking too early costs one look, and each setting is a message on its way:
// what has ended meanwhile is not called off.
void consumer::wake_by(timestamp when) {
  if (deadline_.is_set() && wake_at_ <= when)
    return;
  wake_at_ = when;
  deadline_.set(
    this, std::min<millis>(when - time_.wall_now() + millis{1}, longest_sleep));
}

void consumer::look_at_deadlines() {
  auto now = time_.wall_now();
  for (auto& [id, x] : running_)
    if (!x.lapsed && !x.checking && now >= x.deadline)
      check_claim(x);
  // Wherever they stand: behind one with more time they would wait for it.
  auto stale = [now](const job& x) { return now > half_time(x); };
  for (auto& x : waiting_)
    if (stale(x))
      hand_back(x.claim);
  std::erase_if(waiting_, stale);
  start_some(0);
  for (auto& [id, x] : running_)
    if (!x.lapsed && !x.checking)
      wake_by(x.deadline);
  for (auto& x : waiting_)
    wake_by(half_time(x));
}

// A heartbeat of the handler's may have extended the claim.
void consumer::check_claim(run& x) {
  x.checking = true;
  auto id = key{x.claim.job, x.claim.number};
  auto lapse = [this, id] {
    auto found = running_.find(id);
    if (found == running_.end() || found->second.lapsed)
      return;
    found->second.lapsed = true;
    event report;
    report.severity = event::level::warning;
    report.what = "claim lapsed";
    report.name = options_.name;
    report.job = id.first;
    options_.report(report);
    if (handler_)
      port::send(this, handler_, claim_lapsed{found->second.claim});
  };
  port::ask(this, caf::infinite, reader_, get_job{id.first})
    .then(
      [this, id, lapse](const job& now) {
        auto found = running_.find(id);
        if (found == running_.end())
          return;
        if (now.state != job_state::running || now.claim.number != id.second)
          return lapse();
        found->second.checking = false;
        found->second.deadline = now.claim.deadline;
        wake_by(now.claim.deadline);
      },
      [lapse](const caf::error&) { lapse(); });
}

// -- ending -------------------------------------------------------------------

void consumer::wind_up() {
  if (ending_)
    return;
  ending_ = true;
  for (auto& x : waiting_)
    hand_back(x.claim);
  waiting_.clear();
  auto revoked = [this] {
    revoked_ = true;
    end_if_idle();
  };
  port::ask(this, caf::infinite, writer_,
            grant{consumer_actor{this}, options_.name, kind_ == kind::outbox,
                  options_.worker, 0, 0})
    .then([revoked](completed) { revoked(); },
          [revoked](const caf::error&) { revoked(); });
}

void consumer::end_if_idle() {
  if (!revoked_ || settling_ > 0 || !running_.empty() || !finished_.empty())
    return;
  stopping_.deliver();
  if (reason_)
    quit(reason_);
  else
    quit();
}

} // namespace alkstore
