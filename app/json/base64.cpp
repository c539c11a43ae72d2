#include "app/json/base64.hpp"

#include <cstdint>

namespace alkstore {

namespace {

constexpr std::string_view digits =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

} // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = i; j < i + 3; ++j)
      group = group << 8
              | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0u);
    auto size = std::min<size_t>(3, bytes.size() - i);
    for (size_t j = 0; j < 4; ++j)
      out += j <= size ? digits[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  int bits = 0;
  for (char c : text.substr(0, text.find('='))) {
    auto digit = digits.find(c);
    if (digit == std::string_view::npos)
      return std::nullopt;
    group = group << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(group >> bits & 0xFF);
    }
  }
  if (to_base64(out) != text) // padding, and bits left over
    return std::nullopt;
  return out;
}

} // namespace alkstore
