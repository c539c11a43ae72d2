#include "app/units.hpp"

#include "substrate/error.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <string>

namespace alkstore {

namespace {

constexpr auto largest = std::numeric_limits<int64_t>::max();

struct unit {
  std::string_view name;
  int64_t factor;
};

constexpr unit durations[] = {{"ms", 1},
                              {"s", 1000},
                              {"min", 60'000},
                              {"h", 60 * 60'000},
                              {"d", 24 * 3600'000}};

constexpr unit sizes[] = {
  {"", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  constexpr size_t shown = 40;
  std::string quoted = "`";
  for (char c : text.substr(0, shown))
    quoted += c >= ' ' && c <= '~' ? c : '?';
  quoted += text.size() > shown ? "...` " : "` ";
  throw failure{errc::invalid_argument, quoted + why};
}

// The digits that `text` begins with; empty where CAF would read octal.
std::string_view leading_digits(std::string_view text) {
  auto size = std::min(text.find_first_not_of("0123456789"), text.size());
  return size > 1 && text[0] == '0' ? "" : text.substr(0, size);
}

// `form` says what is allowed.
int64_t parse_with_unit(std::string_view text, std::span<const unit> units,
                        const std::string& form) {
  auto digits = leading_digits(text);
  if (digits.empty())
    refuse(text, "is malformed: " + form);
  auto suffix = text.substr(digits.size());
  auto known = std::find_if(units.begin(), units.end(),
                            [&](const unit& u) { return u.name == suffix; });
  if (known == units.end())
    refuse(text, (suffix.empty() ? "has no unit: " : "has an unknown unit: ")
                   + form + (suffix == "m" ? " (a minute is `min`)" : ""));
  int64_t count = 0;
  auto [end, ec] = std::from_chars(digits.begin(), digits.end(), count);
  if (ec != std::errc{} || count > largest / known->factor)
    refuse(text, "is too large");
  return count * known->factor;
}

} // namespace

int64_t parse_integer(std::string_view text) {
  auto unsigned_part = text.substr(text.substr(0, 1) == "-" ? 1 : 0);
  if (unsigned_part.empty()
      || leading_digits(unsigned_part).size() != unsigned_part.size())
    refuse(text, "is no decimal integer without leading zeros");
  int64_t number = 0;
  auto end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ec != std::errc{})
    refuse(text, "does not fit 64 bits");
  return number;
}

millis parse_duration(std::string_view text) {
  auto count = parse_with_unit(
    text, durations,
    "a duration is a positive whole number directly followed by one of "
    "ms s min h d");
  if (count == 0)
    refuse(text, "must be more than zero");
  if (millis{count} > longest_duration)
    refuse(text, "is too large: a duration is at most 36500d");
  return millis{count};
}

int64_t parse_bytes(std::string_view text) {
  return parse_with_unit(text, sizes,
                         "a size is a whole number of bytes, or one directly "
                         "followed by KiB, MiB or GiB");
}

} // namespace alkstore
