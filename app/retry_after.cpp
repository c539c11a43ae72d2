#include "app/retry_after.hpp"

#include <curl/curl.h>

#include <algorithm>

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
  // curl_getdate answers -1 for what is no date.
  timestamp at{std::chrono::seconds{curl_getdate(value.c_str(), nullptr)}};
  if (at <= now)
    return std::nullopt;
  return std::min<millis>(at - now, longest);
}

} // namespace alkstore
