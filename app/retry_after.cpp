#include "app/retry_after.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>

namespace alkstore {

std::optional<millis> parse_retry_after(const std::string& value,
                                        timestamp now) {
  using namespace std::chrono_literals;
  if (value.empty())
    return std::nullopt;
  constexpr std::chrono::seconds longest = 999'999'999s;
  if (value.find_first_not_of("0123456789") == std::string::npos) {
    auto first = std::min(value.find_first_not_of('0'), value.size() - 1);
    return value.size() - first > 9
             ? longest
             : std::chrono::seconds{std::stoll(value.substr(first))};
  }
  // curl_getdate answers -1 for what is no date, and for a year of many digits
  // seconds that would not fit as milliseconds.
  std::chrono::sys_seconds at{
    std::chrono::seconds{curl_getdate(value.c_str(), nullptr)}};
  auto today = std::chrono::floor<std::chrono::seconds>(now);
  if (at >= today + longest)
    return longest;
  if (at <= today)
    return std::nullopt;
  return at - now;
}

} // namespace alkstore
