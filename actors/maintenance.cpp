#include "actors/maintenance.hpp"

#include "actors/alarm.hpp"
#include "actors/errors.hpp"

namespace alkstore {

namespace {

constexpr millis period{10'000};

class maintenance final : public maintenance_actor::base {
public:
  maintenance(caf::actor_config& cfg, lease leadership, writer_actor writer,
              event_sink report)
    : maintenance_actor::base(cfg),
      leadership_(std::move(leadership)),
      writer_(std::move(writer)),
      report_(std::move(report)) {}

  const char* name() const override { return "maintenance"; }

  void on_exit() override { writer_ = nullptr; }

protected:
  behavior_type make_behavior() override {
    due_.set(this, period);
    return {
      [this](stop_helper) { quit(); },
      [this](maintenance_due x) {
        if (due_.due(x))
          run();
      },
    };
  }

private:
  void run() {
    port::ask(this, caf::infinite, writer_, maintain{leadership_})
      .then(
        [this](const maintenance_report& x) {
          tell(x);
          if (x.more)
            due_.set_now(this);
          else
            due_.set(this, period);
        },
        // A fault passes or ends the leader; either way this is not the place.
        [this](const caf::error&) { due_.set(this, period); });
  }

  void tell(const maintenance_report& x) {
    if (x.buried + x.removed + x.forgotten == 0)
      return;
    event out;
    out.what = "tidied up";
    out.name = name();
    out.text = std::to_string(x.buried) + " jobs buried, "
               + std::to_string(x.removed) + " dead letters removed, "
               + std::to_string(x.forgotten) + " dedupe marks forgotten";
    report_(out);
  }

  lease leadership_;
  writer_actor writer_;
  event_sink report_;
  alarm<maintenance_due> due_;
};

} // namespace

maintenance_actor spawn_maintenance(caf::actor_system& sys, lease leadership,
                                    writer_actor writer,
                                    const event_sink& report) {
  return sys.spawn<maintenance>(std::move(leadership), std::move(writer),
                                report);
}

} // namespace alkstore
