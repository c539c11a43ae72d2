#include "substrate/spec.hpp"

#include "substrate/error.hpp"

#include <charconv>
#include <limits>
#include <string>

namespace alkstore {

namespace {

constexpr uint64_t longest = std::numeric_limits<int64_t>::max();

[[noreturn]] void refuse(std::string_view spec, const char* why) {
  constexpr size_t shown = 40;
  std::string text;
  for (char c : spec.substr(0, shown))
    text += c >= ' ' && c <= '~' ? c : '?';
  throw failure{errc::invalid_spec,
                "spec \"" + text + (spec.size() > shown ? "...\" " : "\" ")
                  + why
                  + ": the form is `@every <n><unit>`, n a positive integer, "
                    "unit s, m, h or d"};
}

uint64_t unit_ms(char unit) {
  switch (unit) {
    case 's': return 1000;
    case 'm': return 60 * 1000;
    case 'h': return 3600 * 1000;
    case 'd': return 86400 * 1000;
    default: return 0;
  }
}

} // namespace

millis parse_spec(std::string_view spec) {
  constexpr std::string_view head = "@every ";
  if (spec.substr(0, head.size()) != head)
    refuse(spec, "is not known");
  auto body = spec.substr(head.size());
  auto begin = body.data(), end = begin + body.size();
  uint64_t count = 0; // without a sign
  auto [unit, ec] = std::from_chars(begin, end, count);
  if (unit == begin || end - unit != 1 || unit_ms(*unit) == 0)
    refuse(spec, "is malformed");
  if (ec != std::errc{} || count > longest / unit_ms(*unit))
    refuse(spec, "is too large");
  if (count == 0)
    refuse(spec, "is zero");
  return millis{count * unit_ms(*unit)};
}

grid_step first_after(timestamp from, millis interval, timestamp now) {
  auto passed = (now - from) / interval;
  auto last = from + passed * interval;
  if (last.time_since_epoch() > millis::max() - interval)
    throw failure{errc::invalid_spec,
                  "the next boundary does not fit into the calendar"};
  return {last + interval, passed};
}

} // namespace alkstore
