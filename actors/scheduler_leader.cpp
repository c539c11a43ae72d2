#include "actors/scheduler_leader.hpp"

#include "actors/alarm.hpp"
#include "actors/errors.hpp"
#include "actors/fault_log.hpp"
#include "actors/maintenance.hpp"
#include "actors/stop_reply.hpp"

#include <optional>

namespace alkstore {

namespace {

// A tick that met a passing store fault is tried again after this.
constexpr millis fault_pause{250};

// A drift between the wall clock and the steady one that is worth a line.
constexpr millis clock_jump{1000};

class scheduler_leader final : public leader_actor::base {
public:
  scheduler_leader(caf::actor_config& cfg, leader_options options,
                   writer_actor writer, reader_actor reader)
    : leader_actor::base(cfg),
      options_(std::move(options)),
      time_(*options_.time),
      writer_(std::move(writer)),
      reader_(std::move(reader)) {}

  const char* name() const override { return "scheduler_leader"; }

  void on_exit() override {
    note_clock_jump(); // it may be what ended the lease
    dismiss_helpers();
    if (leading_) // free for others at once; the writer checks whose it is
      port::send_anonymously(writer_, release_leadership{*leading_});
    stopping_.abandon(name());
    writer_ = nullptr;
    reader_ = nullptr;
  }

protected:
  behavior_type make_behavior() override {
    port::send(this, writer_, subscribe{leader_actor{this}});
    offset_ = clock_offset();
    look();
    return {
      [this](store_changed) { look(); },
      [this](stop) {
        auto promise = stopping_.promise(this);
        if (!ticking_ && !campaigning_) // else their answer does it
          release_and_quit();
        return promise;
      },
      [this](wake_up x) {
        if (!wake_.due(x))
          return;
        note_clock_jump();
        look();
      },
    };
  }

private:
  // -- deciding what to do ----------------------------------------------------

  /// Asks the store how things are; one question at a time.
  void look() {
    if (busy()) {
      look_again_ = true;
      return;
    }
    asking_ = true;
    port::ask(this, caf::infinite, reader_, get_outlook{})
      .then(
        [this](const outlook& x) {
          asking_ = false;
          if (stopping_)
            return;
          if (leading_)
            sleep_or_tick(x.boundary);
          else
            stand_by(x);
          catch_up();
        },
        [this](const caf::error& why) {
          asking_ = false;
          if (!stopping_)
            fault(why);
        });
  }

  bool busy() const { return asking_ || ticking_ || campaigning_ || stopping_; }

  /// Looks once more if something changed in the meantime.
  void catch_up() {
    if (!busy() && std::exchange(look_again_, false))
      look();
  }

  /// Local time may shorten a sleep, never stretch it: no sleep is longer than
  /// a third of the ttl while something is due later.
  void sleep_until(timestamp when) {
    auto left = when - time_.wall_now();
    wake_.set(this, std::min<millis>(left, options_.timing.ttl / 3));
  }

  void fault(const caf::error& why) {
    fault_log_.add(sentence(system(), why));
    wake_.set(this, fault_pause);
  }

  // -- standing by ------------------------------------------------------------

  void stand_by(const outlook& x) {
    auto& seen = x.leadership;
    auto steady = time_.steady_now();
    if (seen.token != watched_.token || seen.renewals != watched_.renewals) {
      watched_ = {seen.token, seen.renewals};
      watched_since_ = steady;
    }
    auto age = steady - watched_since_;
    auto free = seen.owner.empty() || x.now >= seen.expires_at;
    auto stale = !free && age > seen.ttl;
    if (free || stale)
      return run_for_leader(stale);
    // One millisecond past the steady limit, which is a strict one.
    auto left = std::min<millis>(seen.expires_at - x.now,
                                 seen.ttl - age + millis{1});
    wake_.set(this, std::min<millis>(left, options_.timing.ttl / 3));
  }

  void run_for_leader(bool stale) {
    campaign wish{options_.owner, options_.timing.ttl, {}};
    if (stale)
      wish.stale = watched_;
    auto sent_at = time_.steady_now();
    campaigning_ = true;
    port::ask(this, caf::infinite, writer_, std::move(wish))
      .then(
        [this, sent_at](const lease& taken) {
          campaigning_ = false;
          if (taken.token != 0)
            leading_ = taken;
          if (stopping_)
            release_and_quit();
          else if (leading_)
            lead(sent_at);
          else
            look(); // another was faster
          catch_up();
        },
        [this](const caf::error& why) {
          campaigning_ = false;
          if (stopping_)
            release_and_quit();
          else
            fault(why);
        });
  }

  // -- leading ----------------------------------------------------------------

  void lead(alkstore::steady_time sent_at) {
    auto& taken = *leading_;
    tell(event::level::info, "leading",
         "token " + std::to_string(taken.token) + ", owner " + taken.owner);
    renewal_ = spawn_renewal(system(), taken, sent_at, options_.timing, writer_,
                             leader_actor{this}, time_, options_.where);
    maintenance_ = spawn_maintenance(system(), taken, writer_, options_.report);
    fire();
  }

  void sleep_or_tick(const std::optional<timestamp>& boundary) {
    if (!boundary)
      wake_.cancel();
    else if (*boundary <= time_.wall_now())
      fire();
    else
      sleep_until(*boundary);
  }

  void fire() {
    ticking_ = true;
    port::ask(this, caf::infinite, writer_, tick{*leading_})
      .then(
        [this](const tick_report& x) {
          ticking_ = false;
          tell_fired(x);
          if (stopping_)
            return release_and_quit();
          sleep_or_tick(x.soonest);
          catch_up();
        },
        [this](const caf::error& why) {
          ticking_ = false;
          if (stopping_)
            return release_and_quit();
          if (code_of(why) == errc::leadership_lost)
            return quit(why);
          fault(why);
        });
  }

  // -- ending -----------------------------------------------------------------

  void release_and_quit() {
    if (std::exchange(releasing_, true))
      return;
    dismiss_helpers();
    auto end = [this] {
      if (std::exchange(leading_, std::nullopt))
        tell(event::level::info, "stepped down", "the lease is released");
      stopping_.deliver();
      quit();
    };
    if (!leading_)
      return end();
    port::ask(this, caf::infinite, writer_, release_leadership{*leading_})
      .then([end](bool) { end(); },
            [this](const caf::error&) { // it lapses by itself
              stopping_.deliver();
              quit();
            });
  }

  void dismiss_helpers() {
    if (renewal_)
      port::send(this, renewal_, stop_helper{});
    if (maintenance_)
      port::send(this, maintenance_, stop_helper{});
    renewal_ = nullptr;
    maintenance_ = nullptr;
  }

  // -- saying so --------------------------------------------------------------

  void tell(event::level severity, std::string what, std::string text) {
    event x;
    x.severity = severity;
    x.what = std::move(what);
    x.name = name();
    x.text = std::move(text);
    options_.report(x);
  }

  void tell_fired(const tick_report& report) {
    for (auto& x : report.fired) {
      event out;
      out.what = "fired";
      out.name = x.schedule;
      out.job = x.job;
      out.took = report.now - x.fire_at;
      out.text = "into queue " + x.queue;
      options_.report(out);
    }
    for (auto& x : report.skipped) {
      event out;
      out.severity = event::level::warning;
      out.what = "skipped";
      out.name = x.schedule;
      out.text = std::to_string(x.count)
                 + " boundaries beyond the 64 oldest that were due";
      options_.report(out);
    }
  }

  millis clock_offset() const {
    return time_.wall_now().time_since_epoch()
           - time_.steady_now().time_since_epoch();
  }

  void note_clock_jump() {
    auto now = clock_offset();
    auto jump = now - offset_;
    if (std::chrono::abs(jump) <= clock_jump)
      return;
    offset_ = now;
    tell(
      event::level::warning, "clock jumped",
      "the wall clock moved by " + std::to_string(jump.count())
        + " ms against the steady one"
        + (jump < millis{0} ? "; what is due waits for the wall clock" : ""));
  }

  leader_options options_;
  const alkstore::clock& time_;
  writer_actor writer_;
  reader_actor reader_;
  fault_log fault_log_{name(), time_, options_.report};

  std::optional<lease> leading_;  ///< set while this node leads
  renewal_actor renewal_;         ///< null while standing by
  maintenance_actor maintenance_; ///< null while standing by

  leases::stale_lease watched_; ///< standing by: the other's last sign of life
  alkstore::steady_time watched_since_{};

  bool asking_ = false; ///< one question, campaign or tick at a time
  bool campaigning_ = false;
  bool ticking_ = false;
  bool look_again_ = false; ///< something changed meanwhile
  bool releasing_ = false;  ///< the stop's last step
  millis offset_{};         ///< of the wall clock against the steady one
  alarm<wake_up> wake_;
  stop_reply stopping_;
};

} // namespace

leader_actor spawn_leader(caf::actor_system& sys, leader_options options,
                          writer_actor writer, reader_actor reader) {
  if (options.where == placement::pooled)
    return sys.spawn<scheduler_leader>(std::move(options), std::move(writer),
                                       std::move(reader));
  return sys.spawn<scheduler_leader, caf::detached>(
    std::move(options), std::move(writer), std::move(reader));
}

} // namespace alkstore
