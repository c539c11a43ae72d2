// Base64 with padding, as RFC 4648 has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace alkstore {

std::string to_base64(std::string_view bytes);

/// Nothing if it is not just what to_base64 makes.
std::optional<std::string> from_base64(std::string_view text);

} // namespace alkstore
