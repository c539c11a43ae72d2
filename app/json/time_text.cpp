#include "app/json/time_text.hpp"

#include "app/json/nearest.hpp"
#include "substrate/error.hpp"

#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

namespace alkstore {

namespace {

std::string text_of(timestamp when, const std::tm& parts, const char* format,
                    const char* zone_format) {
  auto ms = (when - std::chrono::floor<std::chrono::seconds>(when)).count();
  char date[64] = "", zone[16] = "", fraction[16] = "";
  std::strftime(date, sizeof date, format, &parts);
  std::strftime(zone, sizeof zone, zone_format, &parts);
  std::snprintf(fraction, sizeof fraction, ".%03d", static_cast<int>(ms));
  return date + std::string{fraction} + zone;
}

std::time_t seconds_of(timestamp when) {
  return std::chrono::floor<std::chrono::seconds>(when)
    .time_since_epoch()
    .count();
}

// A reader of one text from its front on.
class reader {
public:
  explicit reader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }

  bool take(char c) {
    if (rest_.substr(0, 1) != std::string_view{&c, 1})
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// A number of just so many digits, from least to most.
  bool number(size_t digits, int least, int most, int& out) {
    int value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9')
        return false;
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    out = value;
    return value >= least && value <= most;
  }

  /// One to three digits behind the point, as milliseconds.
  bool fraction(int& ms) {
    int digit = 0;
    if (!number(1, 0, 9, digit))
      return false;
    ms = 100 * digit;
    if (number(1, 0, 9, digit)) {
      ms += 10 * digit;
      if (number(1, 0, 9, digit))
        ms += digit;
    }
    return true;
  }

private:
  std::string_view rest_;
};

std::optional<timestamp> read_time(std::string_view text) {
  reader in{text};
  std::tm parts{};
  if (!in.number(4, 1970, 9999, parts.tm_year) || !in.take('-')
      || !in.number(2, 1, 12, parts.tm_mon) || !in.take('-')
      || !in.number(2, 1, 31, parts.tm_mday) || !(in.take('T') || in.take(' '))
      || !in.number(2, 0, 23, parts.tm_hour) || !in.take(':')
      || !in.number(2, 0, 59, parts.tm_min))
    return std::nullopt;
  int ms = 0;
  if (in.take(':')) {
    if (!in.number(2, 0, 59, parts.tm_sec))
      return std::nullopt;
    if (in.take('.') && !in.fraction(ms))
      return std::nullopt;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  auto day = parts.tm_mday;
  std::time_t seconds = 0;
  if (in.done()) {
    parts.tm_isdst = -1;
    seconds = std::mktime(&parts);
  } else {
    seconds = ::timegm(&parts);
    auto east = in.take('+');
    if (int hours = 0, minutes = 0; east || in.take('-')) {
      if (!in.number(2, 0, 23, hours) || !(in.take(':') || true)
          || !in.number(2, 0, 59, minutes))
        return std::nullopt;
      seconds -= (east ? 60 : -60) * (hours * 60 + minutes);
    } else if (!in.take('Z')) {
      return std::nullopt;
    }
  }
  if (!in.done() || parts.tm_mday != day) // the 31st of April
    return std::nullopt;
  return timestamp{std::chrono::seconds{seconds} + millis{ms}};
}

} // namespace

std::string utc_text(timestamp when) {
  auto seconds = seconds_of(when);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return text_of(when, parts, "%Y-%m-%dT%H:%M:%S", "Z");
}

std::string local_text(timestamp when) {
  auto seconds = seconds_of(when);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  return text_of(when, parts, "%Y-%m-%d %H:%M:%S", " %z");
}

timestamp parse_time(std::string_view text) {
  if (auto when = read_time(text))
    return *when;
  throw failure{errc::invalid_argument,
                shown(text)
                  + " is no time: write 2026-12-01T08:00:00Z, with an offset "
                    "like +01:00, or without either for local time"};
}

std::string duration_text(millis span) {
  constexpr std::pair<int64_t, const char*> units[] = {
    {24 * 3'600'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1000, "s"}};
  for (auto [size, name] : units)
    if (span.count() != 0 && span.count() % size == 0)
      return std::to_string(span.count() / size) + name;
  return std::to_string(span.count()) + "ms";
}

} // namespace alkstore
