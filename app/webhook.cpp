#include "app/webhook.hpp"

#include "app/json/base64.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <stdexcept>

namespace alkstore {

namespace {

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

void check(bool worked) {
  if (!worked)
    throw std::runtime_error("OpenSSL could not make a signature");
}

std::string sign(std::string_view key,
                 std::initializer_list<std::string_view> pieces) {
  std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> hmac{
    EVP_MAC_fetch(nullptr, "HMAC", nullptr), EVP_MAC_free};
  check(hmac != nullptr);
  std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context{
    EVP_MAC_CTX_new(hmac.get()), EVP_MAC_CTX_free};
  check(context != nullptr);
  char digest_name[] = "SHA256";
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest_name, 0),
    OSSL_PARAM_construct_end()};
  check(EVP_MAC_init(context.get(), unsigned_bytes(key), key.size(), parameters)
        == 1);
  for (auto piece : pieces)
    check(EVP_MAC_update(context.get(), unsigned_bytes(piece), piece.size())
          == 1);
  unsigned char digest[EVP_MAX_MD_SIZE];
  size_t size = 0;
  check(EVP_MAC_final(context.get(), digest, &size, sizeof(digest)) == 1);
  return to_base64({reinterpret_cast<char*>(digest), size});
}

bool may_ask_for_time(int status) {
  return status == 408 || status == 425 || status == 429 || status == 503;
}

} // namespace

std::optional<std::string> webhook_key(std::string_view secret) {
  constexpr std::string_view prefix = "whsec_";
  std::optional<std::string> key;
  if (secret.substr(0, prefix.size()) == prefix)
    key = from_base64(secret.substr(prefix.size()));
  else
    key = secret;
  if (key && key->empty())
    key.reset();
  return key;
}

http_headers webhook_headers(std::string_view id, timestamp now,
                             std::string_view body,
                             const std::optional<std::string>& key) {
  auto since_epoch = std::chrono::floor<std::chrono::seconds>(now);
  auto time = std::to_string(since_epoch.time_since_epoch().count());
  http_headers headers{{"webhook-id", std::string{id}},
                       {"webhook-timestamp", time}};
  if (key)
    headers.emplace_back("webhook-signature",
                         "v1," + sign(*key, {id, ".", time, ".", body}));
  return headers;
}

webhook_verdict judge(const http_outcome& outcome, millis backoff) {
  using fate = webhook_verdict::fate;
  if (outcome.status >= 200 && outcome.status <= 299)
    return {fate::delivered, {}};
  if (outcome.status == 0)
    return {fate::retry, outcome.error, backoff};
  auto error = "status " + std::to_string(outcome.status);
  if (outcome.status == 410)
    return {fate::dead, error + " gone"};
  auto delay = backoff;
  if (may_ask_for_time(outcome.status))
    delay = std::max(delay, outcome.retry_after.value_or(delay));
  return {fate::retry, error, std::min(delay, longest_retry_delay)};
}

} // namespace alkstore
