#include "app/target.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <strings.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string_view>

namespace alkstore {

namespace {

// -- addresses ----------------------------------------------------------------

constexpr uint32_t quad(uint32_t a, uint32_t b, uint32_t c = 0,
                        uint32_t d = 0) {
  return a << 24 | b << 16 | c << 8 | d;
}

struct network {
  uint32_t address;
  int bits;
};

constexpr network special_purpose[] = {
  {quad(0, 0), 8},         {quad(10, 0), 8},      {quad(100, 64), 10},
  {quad(127, 0), 8},       {quad(169, 254), 16},  {quad(172, 16), 12},
  {quad(192, 0), 24},      {quad(192, 0, 2), 24}, {quad(192, 88, 99), 24},
  {quad(192, 168), 16},    {quad(198, 18), 15},   {quad(198, 51, 100), 24},
  {quad(203, 0, 113), 24}, {quad(224, 0), 4},     {quad(240, 0), 4},
};

bool is_private_v4(uint32_t address) {
  return std::any_of(std::begin(special_purpose), std::end(special_purpose),
                     [address](network n) {
                       return (address ^ n.address) >> (32 - n.bits) == 0;
                     });
}

bool is_private_v6(const uint8_t* b) {
  auto begins = [b](std::initializer_list<uint8_t> prefix) {
    return std::equal(prefix.begin(), prefix.end(), b);
  };
  bool mapped = begins({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff});
  bool nat64 = begins({0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0});
  if (mapped || nat64)
    return is_private_v4(quad(b[12], b[13], b[14], b[15]));
  // Only 2000::/3 is global unicast. Inside it 2001::/23 holds Teredo and other
  // protocols, 2001:db8::/32 and 3fff::/20 documentation, 2002::/16 6to4.
  return (b[0] & 0xe0) != 0x20 || (begins({0x20, 0x01}) && b[2] < 2)
         || begins({0x20, 0x01, 0x0d, 0xb8}) || begins({0x20, 0x02})
         || (begins({0x3f, 0xff}) && b[2] < 0x10);
}

// -- URLs ---------------------------------------------------------------------

using url_ptr = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

// libcurl's own parser, so that what is judged is what is connected to.
url_ptr parse(const std::string& url) {
  url_ptr parsed{curl_url(), curl_url_cleanup};
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(),
                   CURLU_NON_SUPPORT_SCHEME)
      != CURLUE_OK)
    parsed.reset();
  return parsed;
}

std::string part(const url_ptr& url, CURLUPart which) {
  char* text = nullptr;
  if (!url || curl_url_get(url.get(), which, &text, 0) != CURLUE_OK)
    return {};
  std::string result = text;
  curl_free(text);
  return result;
}

bool is_localhost(std::string_view host) {
  constexpr std::string_view name = "localhost";
  if (!host.empty() && host.back() == '.')
    host.remove_suffix(1);
  if (host.size() < name.size())
    return false;
  auto before = host.substr(0, host.size() - name.size());
  return strncasecmp(host.data() + before.size(), name.data(), name.size()) == 0
         && (before.empty() || before.back() == '.');
}

bool is_private_host(const std::string& host) {
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1)
    return is_private_v4(ntohl(v4.s_addr));
  if (host.front() != '[')
    return is_localhost(host);
  in6_addr v6;
  auto inside = host.substr(1, host.size() - 2);
  return inet_pton(AF_INET6, inside.c_str(), &v6) != 1
         || is_private_v6(v6.s6_addr);
}

} // namespace

bool is_private(const sockaddr& address) {
  if (address.sa_family == AF_INET)
    return is_private_v4(
      ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
  if (address.sa_family == AF_INET6)
    return is_private_v6(
      reinterpret_cast<const sockaddr_in6&>(address).sin6_addr.s6_addr);
  return true;
}

std::string refuse_target(const std::string& url, private_targets policy) {
  auto parsed = parse(url);
  auto scheme = part(parsed, CURLUPART_SCHEME);
  auto host = part(parsed, CURLUPART_HOST);
  if ((scheme != "http" && scheme != "https") || host.empty())
    return "not a valid http or https URL";
  if (policy == private_targets::refused && is_private_host(host))
    return "blocked target: " + host + " is not a public address";
  return {};
}

std::string target_name(const std::string& url) {
  auto parsed = parse(url);
  auto port = part(parsed, CURLUPART_PORT);
  return part(parsed, CURLUPART_HOST) + (port.empty() ? "" : ":" + port);
}

} // namespace alkstore
