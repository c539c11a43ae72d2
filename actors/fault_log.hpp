// The faults of the store that an actor meets, for the log.
#pragma once

#include "actors/event.hpp"
#include "substrate/clock.hpp"

#include <utility>

namespace alkstore {

/// Reports `store fault`. One that comes again and again, as on a full disk, is
/// reported every ten seconds, with how often it came.
class fault_log {
public:
  fault_log(std::string actor, const clock& time, event_sink report)
    : actor_(std::move(actor)), time_(time), report_(std::move(report)) {}

  void add(const std::string& fault) {
    auto now = time_.steady_now();
    auto known = fault == last_;
    if (known && now - told_ < std::chrono::seconds{10}) {
      ++untold_;
      return;
    }
    event x;
    x.severity = event::level::error;
    x.what = "store fault";
    x.name = actor_;
    x.text = fault;
    if (known && untold_ > 0)
      x.text += "; " + std::to_string(untold_) + " more since the last line";
    last_ = fault;
    told_ = now;
    untold_ = 0;
    report_(x);
  }

private:
  std::string actor_;
  const clock& time_;
  event_sink report_;
  std::string last_;
  steady_time told_{};
  int64_t untold_ = 0;
};

} // namespace alkstore
