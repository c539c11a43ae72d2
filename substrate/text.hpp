// Error texts as they are stored and shown.
#pragma once

#include <string>
#include <string_view>

namespace alkstore {

/// The longest error text that is stored, in bytes.
inline constexpr size_t max_error_bytes = 4096;

/// `raw` as valid UTF-8 without NUL of at most 4 KiB: bytes that are no text
/// become U+FFFD, a cut falls between characters.
std::string error_text(std::string_view raw);

/// Bytes as lower-case hex digits.
std::string to_hex(std::string_view bytes);

} // namespace alkstore
