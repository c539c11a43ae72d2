// Webhooks as https://www.standardwebhooks.com has them: what is sent with an
// attempt, and what the answer means for the job.
#pragma once

#include "app/http_client.hpp"
#include "substrate/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace alkstore {

/// The longest wait before the next attempt, as in the queue's own backoff.
constexpr millis longest_retry_delay = std::chrono::hours{1};

/// The signing key that a secret stands for: `whsec_` and its base64, or the
/// bytes as they are. Nothing if it is empty or the base64 is not valid.
std::optional<std::string> webhook_key(std::string_view secret);

/// The headers of one attempt at `now`: `webhook-id`, `webhook-timestamp` in
/// seconds and, if there is a key, `webhook-signature`: `v1,` and the base64 of
/// HMAC-SHA256 over `id.timestamp.body`. To be made anew for each attempt,
/// since receivers refuse old timestamps. Throws std::runtime_error if OpenSSL
/// fails.
http_headers webhook_headers(std::string_view id, timestamp now,
                             std::string_view body,
                             const std::optional<std::string>& key);

struct webhook_verdict {
  enum class fate : uint8_t { delivered, retry, dead };

  fate job;
  /// Empty if delivered, else `status 503` (`status 410 gone`), or why there
  /// was no answer.
  std::string error;
  /// Until the next attempt, for `retry`.
  millis delay{0};
};

/// 2xx is delivered. 410 (gone) is dead at once. All else is worth a retry
/// after `backoff`; with 408, 425, 429 and 503 after what Retry-After asks for,
/// if that is longer, but at most an hour.
webhook_verdict judge(const http_outcome& outcome, millis backoff);

} // namespace alkstore
