#include "actors/lock_renewal.hpp"

#include "actors/alarm.hpp"
#include "actors/errors.hpp"

namespace alkstore {

namespace {

class lock_renewal final : public renewal_actor::base {
public:
  lock_renewal(caf::actor_config& cfg, lease held,
               alkstore::steady_time sent_at, const lease_timing& timing,
               writer_actor writer, leader_actor leader,
               const alkstore::clock& time)
    : renewal_actor::base(cfg),
      held_(std::move(held)),
      good_until_(sent_at + timing.ttl * 2 / 3),
      timing_(timing),
      writer_(std::move(writer)),
      leader_(std::move(leader)),
      time_(time) {}

  const char* name() const override { return "lock_renewal"; }

  void on_exit() override {
    writer_ = nullptr;
    leader_ = nullptr;
  }

protected:
  behavior_type make_behavior() override {
    due_.set(this, timing_.renew_every);
    overdue_.set(this, good_until_ - time_.steady_now());
    return {
      [this](stop_helper) { quit(); },
      [this](renewal_due x) {
        if (due_.due(x))
          renew();
      },
      [this](renewal_overdue x) {
        if (overdue_.due(x))
          lost("no renewal succeeded within two thirds of the ttl");
      },
    };
  }

private:
  void renew() {
    auto sent_at = time_.steady_now();
    if (sent_at >= good_until_)
      return lost("the last renewal is too long ago");
    port::ask_urgently(this, caf::infinite, writer_, renew_leadership{held_})
      .then(
        [this, sent_at](const lease& renewed) {
          held_ = renewed;
          good_until_ = sent_at + timing_.ttl * 2 / 3;
          auto now = time_.steady_now();
          overdue_.set(this, good_until_ - now);
          due_.set(this, sent_at + timing_.renew_every - now);
        },
        [this](const caf::error& why) {
          if (code_of(why) == errc::leadership_lost)
            lost(sentence(system(), why));
          else // a passing fault: again soon, until it is overdue
            due_.set(this, timing_.renew_every / 10);
        });
  }

  void lost(const std::string& why) {
    port::send_error(leader_, make_error(errc::leadership_lost, why));
    quit();
  }

  lease held_;
  alkstore::steady_time good_until_; ///< leadership ends here without a renewal
  lease_timing timing_;
  writer_actor writer_;
  leader_actor leader_;
  const alkstore::clock& time_;
  alarm<renewal_due> due_;
  alarm<renewal_overdue> overdue_;
};

} // namespace

renewal_actor spawn_renewal(caf::actor_system& sys, lease held,
                            steady_time sent_at, const lease_timing& timing,
                            writer_actor writer, leader_actor leader,
                            const clock& time, placement where) {
  if (where == placement::pooled)
    return sys.spawn<lock_renewal>(std::move(held), sent_at, timing,
                                   std::move(writer), std::move(leader),
                                   std::ref(time));
  return sys.spawn<lock_renewal, caf::detached>(
    std::move(held), sent_at, timing, std::move(writer), std::move(leader),
    std::ref(time));
}

} // namespace alkstore
