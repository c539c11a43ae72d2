// Schedules: kept by name, fired on a grid that never drifts.
#pragma once

#include "substrate/jobs.hpp"
#include "substrate/leases.hpp"

#include <optional>
#include <string>
#include <vector>

namespace alkstore {

/// A schedule's row. Each option overrides its queue's own value only.
struct schedule {
  std::string name;
  std::string spec;    ///< `@every <n><unit>`
  std::string queue;   ///< where its jobs go
  std::string payload; ///< any bytes
  job_options options; ///< priority, expires_in, max_attempts,
                       ///< visibility_timeout, backoff_base
  timestamp next_fire_at{};
  bool paused = false;

  bool operator==(const schedule&) const = default;
};

/// What a schedule is asked to be: without the fields the store decides.
struct schedule_request {
  std::string name;
  std::string spec;
  std::string queue;
  std::string payload;
  job_options options; ///< without delay, run_at and dedupe_key
};

/// One job that a tick put into a queue.
struct firing {
  std::string schedule;
  std::string queue;
  int64_t job = 0;
  timestamp fire_at{}; ///< the boundary's nominal time
};

/// Boundaries that a tick passed over because more than 64 were due.
struct skipped_boundaries {
  std::string schedule;
  int64_t count = 0;
};

/// What one tick's transaction did.
struct tick_report {
  std::vector<firing> fired;
  std::vector<skipped_boundaries> skipped;
  timestamp now{};                  ///< the tick's reading of the wall clock
  std::optional<timestamp> soonest; ///< the next boundary: another tick is due
                                    ///< at once where it is not after `now`
};

namespace schedules {

/// The most boundaries of one schedule that one tick fires.
inline constexpr int64_t catch_up_cap = 64;

/// Where a tick ends its transaction: after the schedule that passed the bound
/// of jobs, or after sixteen schedules, or 64 jobs, that passed the other.
struct tick_bounds {
  int jobs = 1000;
  millis time{20};
};

/// Registers or changes a schedule, by name, and answers the row as stored. The
/// first boundary is now + interval; the same interval again keeps
/// next_fire_at, whatever else changes; `paused` stays as it is. Nothing is
/// written when it refuses: invalid_name, reserved_name, invalid_spec,
/// invalid_argument, payload_too_large.
schedule add(transaction& tx, const schedule_request& wanted);

/// Removes it (also called unschedule). False if it is not there.
bool remove(transaction& tx, std::string_view name);

/// Stops the firing. False if it was paused already. Errors: not_found.
bool pause(transaction& tx, std::string_view name);

/// Goes on. A boundary that passed meanwhile is left out uncounted: the next is
/// the first on the grid after now. False if it was not paused. Errors:
/// not_found.
bool resume(transaction& tx, std::string_view name);

/// Errors: not_found.
schedule get(transaction& tx, std::string_view name);

/// Every schedule, by name.
std::vector<schedule> list(transaction& tx);

/// Fires what is due: one job per boundary, the 64 oldest per schedule, soonest
/// schedule first. The rest is skipped and counted. The lease is checked in
/// this very transaction. Errors: leadership_lost, and nothing is fired.
tick_report tick(transaction& tx, const lease& leadership,
                 const tick_bounds& bounds = {});

/// When the next boundary of a schedule that is not paused is due.
std::optional<timestamp> soonest(transaction& tx);

} // namespace schedules

} // namespace alkstore
