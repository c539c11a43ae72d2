// Times as people and JSON write them.
#pragma once

#include "substrate/time.hpp"

#include <string>
#include <string_view>

namespace alkstore {

/// `2026-12-01T08:00:00.000Z`
std::string utc_text(timestamp when);

/// `2026-12-01 09:00:00.000 +0100`, by the time zone of TZ or of the machine.
std::string local_text(timestamp when);

/// Reads `2026-12-01T08:00:00Z`: a `T` or a space between, seconds and up to
/// three digits behind them may be left out, the zone is `Z` or `+01:00`, or
/// missing for local time. Errors: invalid_argument.
timestamp parse_time(std::string_view text);

/// The largest unit that is exact: `300s` is `5min`.
std::string duration_text(millis span);

} // namespace alkstore
