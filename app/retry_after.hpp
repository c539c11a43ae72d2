// The HTTP header by which a receiver asks to be left alone for a while.
#pragma once

#include "substrate/time.hpp"

#include <optional>
#include <string>

namespace alkstore {

/// How long from `now` a Retry-After value (RFC 9110, section 10.2.3) asks to
/// wait: whole seconds, or a date in any of HTTP's three forms. Nothing if it
/// is neither, negative, or a date that has passed. More than 999,999,999 s (31
/// years) is taken as that.
std::optional<millis> parse_retry_after(const std::string& value,
                                        timestamp now);

} // namespace alkstore
