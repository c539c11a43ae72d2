#include "substrate/text.hpp"

#include <cstdint>

namespace alkstore {

namespace {

// Length of the well-formed UTF-8 sequence at the front of `s` (Unicode
// standard, table 3-7), 0 if there is none.
size_t sequence_length(std::string_view s) {
  auto byte = [&](size_t i) -> unsigned {
    return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u;
  };
  auto tail = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  auto a = byte(0), b = byte(1);
  if (a >= 0x01 && a <= 0x7F)
    return 1;
  if (a >= 0xC2 && a <= 0xDF)
    return tail(1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    auto fits = a == 0xE0   ? b >= 0xA0
                : a == 0xED ? b <= 0x9F
                            : true; // no overlong form, no surrogate
    return tail(1) && fits && tail(2) ? 3 : 0;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    auto fits = a == 0xF0 ? b >= 0x90 : a == 0xF4 ? b <= 0x8F : true;
    return tail(1) && fits && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

} // namespace

std::string error_text(std::string_view raw) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string out;
  while (!raw.empty()) {
    auto length = sequence_length(raw);
    auto piece = length ? raw.substr(0, length) : replacement;
    if (out.size() + piece.size() > max_error_bytes)
      break;
    out += piece;
    raw.remove_prefix(length ? length : 1);
  }
  return out;
}

std::string to_hex(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out(bytes.size() * 2, '\0');
  auto at = out.begin();
  for (unsigned char c : bytes) {
    *at++ = digits[c >> 4];
    *at++ = digits[c & 15];
  }
  return out;
}

} // namespace alkstore
