// Numbers, durations and sizes as people write them: in the configuration file
// and on the command line. All refuse with errc::invalid_argument and a
// sentence that repeats the text (clipped) and says what is allowed.
#pragma once

#include "substrate/time.hpp"

#include <cstdint>
#include <string_view>

namespace alkstore {

/// A decimal integer, maybe with `-`, without `+` and leading zeros (to CAF a
/// number with a leading zero is octal).
int64_t parse_integer(std::string_view text);

/// A century. CAF keeps durations in nanoseconds: 292 years fit.
inline constexpr millis longest_duration = std::chrono::hours{36500 * 24};

/// A positive whole number directly followed by one of ms s min h d: `15s`. A
/// number without a unit is refused, zero and more than longest_duration too.
millis parse_duration(std::string_view text);

/// Bytes: a whole number, alone or directly followed by KiB, MiB or GiB.
int64_t parse_bytes(std::string_view text);

} // namespace alkstore
