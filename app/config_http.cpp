#include "app/config_http.hpp"

#include "app/config_file.hpp"
#include "app/webhook.hpp"

#include <strings.h>

#include <algorithm>
#include <set>

namespace alkstore {

namespace {

constexpr size_t largest_secret = 64 * 1024;

struct header_less {
  bool operator()(const std::string& a, const std::string& b) const {
    return strcasecmp(a.c_str(), b.c_str()) < 0;
  }
};

using header_names = std::set<std::string, header_less>;

// RFC 9110, section 5.5. The value is never shown.
void check_header_value(const std::string& value) {
  auto control = [](unsigned char c) {
    return (c < ' ' && c != '\t') || c == 0x7f;
  };
  if (std::any_of(value.begin(), value.end(), control))
    refuse_value("holds control characters");
}

// RFC 9110, section 5.1.
void check_header_name(const std::string& name) {
  constexpr std::string_view token =
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (name.empty() || name.find_first_not_of(token) != std::string::npos)
    refuse_value("holds a name that no header can have");
  static const header_names own{"webhook-id",        "webhook-timestamp",
                                "webhook-signature", "content-length",
                                "content-type",      "transfer-encoding"};
  if (own.contains(name))
    refuse_value(name + " is set by the delivery itself");
}

void check_headers(const http_config& http) {
  header_names given;
  for (auto& [name, value] : http.headers) {
    check_header_name(name);
    check_header_value(value);
    if (!given.insert(name).second)
      refuse_value(name + " is given twice");
  }
}

void read_secret(section_reader& outbox, http_config& out) {
  std::string secret, file;
  outbox.get("secret", secret);
  outbox.get("secret-file", file);
  auto take = [&] {
    out.key = webhook_key(secret);
    if (!out.key)
      refuse_value("is empty, or no base64 follows whsec_");
  };
  if (outbox.has("secret") && outbox.has("secret-file"))
    outbox.refuse("secret-file", "there is a secret already");
  outbox.check("secret", take);
  outbox.check("secret-file", [&] {
    secret = read_file(expand_home(file), largest_secret);
    secret.erase(secret.find_last_not_of("\r\n") + 1);
    take();
  });
}

} // namespace

http_config read_http(section_reader& outbox, private_targets policy) {
  http_config out;
  outbox.get("url", out.url);
  outbox.get("timeout", out.timeout);
  outbox.get("content-type", out.content_type);
  outbox.get("headers", out.headers);
  outbox.check("url", [&] {
    if (auto why = refuse_target(out.url, policy); !why.empty())
      refuse_value(why);
  });
  outbox.check("content-type", [&] { check_header_value(out.content_type); });
  outbox.check("headers", [&] { check_headers(out); });
  read_secret(outbox, out);
  return out;
}

} // namespace alkstore
