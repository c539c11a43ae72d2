// When a schedule fires.
#pragma once

#include "substrate/time.hpp"

#include <string_view>

namespace alkstore {

/// The interval of `@every <n><unit>`: n a positive decimal integer without
/// sign (leading zeros are allowed: `007s` is 7 s), unit s, m, h or d (86,400
/// s), one space between, nothing else. Errors: invalid_spec, also where the
/// milliseconds do not fit.
millis parse_spec(std::string_view spec);

/// The first boundary on the grid `from + k * interval` (k >= 1) that is after
/// `now`, and how many were passed over: those at or before `now`. Requires
/// from <= now and interval > 0. Errors: invalid_spec if it does not fit.
struct grid_step {
  timestamp next;
  int64_t passed; ///< boundaries in (from, now]
};
grid_step first_after(timestamp from, millis interval, timestamp now);

} // namespace alkstore
