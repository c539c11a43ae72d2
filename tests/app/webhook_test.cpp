#include "app/webhook.hpp"

#include "app/http_client.hpp"
#include "app/retry_after.hpp"
#include "tests/app/raw_server.hpp"
#include "tests/catch.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <future>
#include <map>

using namespace alkstore;
using namespace alkstore::test;
using namespace std::chrono_literals;
using fate = webhook_verdict::fate;

namespace {

// Wed, 21 Oct 2026 07:28:00 GMT
const timestamp october{1792567680s};

http_outcome answered(int status, std::optional<millis> retry_after = {}) {
  http_outcome outcome;
  outcome.status = status;
  outcome.retry_after = retry_after;
  return outcome;
}

std::map<std::string, std::string> by_name(const http_headers& headers) {
  return {headers.begin(), headers.end()};
}

// What a receiver computes, by another way through OpenSSL.
std::string expected_signature(const std::string& key, const std::string& id,
                               const std::string& time,
                               const std::string& body) {
  auto text = id + "." + time + "." + body;
  unsigned char digest[32];
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest,
       nullptr);
  unsigned char encoded[45];
  EVP_EncodeBlock(encoded, digest, sizeof(digest));
  return "v1," + std::string(reinterpret_cast<char*>(encoded));
}

std::string field(const std::string& request, const std::string& name) {
  auto begin = request.find("\r\n" + name + ": ");
  if (begin == std::string::npos)
    return {};
  begin += name.size() + 4;
  return request.substr(begin, request.find("\r\n", begin) - begin);
}

} // namespace

TEST_CASE("a signature is the one of the Standard Webhooks specification") {
  auto key = webhook_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  REQUIRE(key);
  auto headers = by_name(webhook_headers("msg_p5jXN8AQM9LWM0D4loKWxJek",
                                         timestamp{1614265330s},
                                         R"({"test": 2432232314})", key));
  CHECK(headers.size() == 3);
  CHECK(headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek");
  CHECK(headers["webhook-timestamp"] == "1614265330");
  CHECK(headers["webhook-signature"]
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST_CASE("without a secret there is no signature") {
  auto headers = by_name(webhook_headers("7", october + 999ms, "body", {}));
  CHECK(headers
        == std::map<std::string, std::string>{
          {"webhook-id", "7"}, {"webhook-timestamp", "1792567680"}});
}

TEST_CASE("a secret is base64 behind whsec_, else the bytes as they are") {
  using namespace std::string_literals;
  CHECK(webhook_key("whsec_aGVsbG8=") == "hello");
  CHECK(webhook_key("whsec_aGVsbG8h") == "hello!");
  CHECK(webhook_key("whsec_AA==") == "\0"s);
  CHECK(webhook_key("aGVsbG8=") == "aGVsbG8=");
  CHECK(webhook_key("with\0nul"s) == "with\0nul"s);
  for (std::string bad : {"", "whsec_", "whsec_aGVsbG8", "whsec_a",
                          "whsec_====", "whsec_A===", "whsec_aGVs bG8",
                          "whsec_aGVsbG8= ", "whsec_aGV\nbG8h",
                          "whsec_aGVsbG9=", "whsec_-_-_", "whsec_aG=sbG8h"})
    CHECK(webhook_key(bad) == std::nullopt);
}

TEST_CASE("H80: 2xx is delivered, 410 is dead at once, all else is retried") {
  for (int status : {200, 204, 299}) {
    auto verdict = judge(answered(status), 10s);
    CHECK(verdict.job == fate::delivered);
    CHECK(verdict.error.empty());
  }
  for (int status : {199, 300, 301, 308, 400, 401, 404, 408, 422, 425, 429, 500,
                     503, 599, 999}) {
    auto verdict = judge(answered(status), 10s);
    CHECK(verdict.job == fate::retry);
    CHECK(verdict.error == "status " + std::to_string(status));
    CHECK(verdict.delay == 10s);
  }
  auto gone = judge(answered(410, 60s), 10s);
  CHECK(gone.job == fate::dead);
  CHECK(gone.error == "status 410 gone");

  http_outcome nothing;
  nothing.error = "host: timeout after 10000 ms";
  auto verdict = judge(nothing, 10s);
  CHECK(verdict.job == fate::retry);
  CHECK(verdict.error == nothing.error);
  CHECK(verdict.delay == 10s);
}

TEST_CASE("H81: Retry-After delays between the backoff and an hour") {
  auto delay = [](const std::string& value, int status) {
    return judge(answered(status, parse_retry_after(value, october)), 10s)
      .delay;
  };
  for (int status : {408, 425, 429, 503}) {
    CHECK(delay("120", status) == 120s);
    CHECK(delay("Wed, 21 Oct 2026 07:30:00 GMT", status) == 120s);
    CHECK(delay("-5", status) == 10s);
    CHECK(delay("0", status) == 10s);
    CHECK(delay("Wed, 21 Oct 2026 07:27:00 GMT", status) == 10s);
    CHECK(delay("999999999", status) == 1h);
    CHECK(delay("99999999999999999999999", status) == 1h);
    CHECK(delay("Fri, 31 Dec 9999 23:59:59 GMT", status) == 1h);
  }
  CHECK(delay("120", 500) == 10s);
  CHECK(delay("120", 404) == 10s);
  CHECK(judge(answered(503, 2h), 1h).delay == 1h);
  CHECK(judge(answered(503, 5s), 1h).delay == 1h);
}

TEST_CASE("H81: Retry-After is whole seconds or a date, or it is ignored") {
  CHECK(parse_retry_after("0", october) == 0s);
  CHECK(parse_retry_after("000000000000120", october) == 120s);
  CHECK(parse_retry_after("Wednesday, 21-Oct-26 07:30:00 GMT", october)
        == 120s);
  CHECK(parse_retry_after("Wed Oct 21 07:30:00 2026", october) == 120s);
  CHECK(parse_retry_after("9999999999", october) == 999'999'999s);
  // A date or not, as libcurl has it; never an overflow.
  auto far = parse_retry_after("Wed, 21 Oct 312222222 07:28:00 GMT", october);
  CHECK(far.value_or(999'999'999s) == 999'999'999s);
  for (std::string bad :
       {"", "-5", "+5", "1.5", "1e3", "10 s", "5, 120", "soon", "5 apples",
        "Wed, 21 Oct 2026 07:28:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT",
        "Wed, 99 Oct 2026 07:30:00 GMT"}) {
    INFO(bad);
    CHECK(parse_retry_after(bad, october) == std::nullopt);
  }
}

TEST_CASE("H83: each retry is signed over the bytes that it sends") {
  using namespace std::string_literals;
  const auto body = "nul \0 \xc3\xa9 \xff trailing  "s;
  const auto key =
    webhook_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").value_or("");
  std::vector<std::string> requests;
  raw_server receiver{[&](int fd) {
    for (auto status : {"500", "500", "200"}) {
      requests.push_back(read_request(fd));
      write_all(fd, "HTTP/1.1 " + std::string{status}
                      + " Text\r\nContent-Length: 0\r\n\r\n");
    }
  }};
  http_client client{private_targets::allowed};
  std::vector<fate> fates;
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::promise<http_outcome> outcome;
    client.post({receiver.url(),
                 webhook_headers("id-1", october + attempt * 5s, body, key),
                 body, 20s},
                [&](http_outcome result) { outcome.set_value(result); });
    fates.push_back(judge(outcome.get_future().get(), 5s).job);
  }
  CHECK(fates == std::vector{fate::retry, fate::retry, fate::delivered});
  REQUIRE(requests.size() == 3);
  for (auto& request : requests) {
    CHECK(request.substr(request.find("\r\n\r\n") + 4) == body);
    CHECK(field(request, "webhook-id") == "id-1");
    CHECK(field(request, "webhook-signature")
          == expected_signature(key, "id-1",
                                field(request, "webhook-timestamp"), body));
  }
}

TEST_CASE("H86: a late attempt has all headers, made afresh, and the same id") {
  auto first = by_name(webhook_headers("id-1", october, "body", "secret"));
  auto later = by_name(
    webhook_headers("id-1", october + 20min, "body", "secret"));
  CHECK(later.size() == first.size());
  CHECK(later["webhook-id"] == first["webhook-id"]);
  CHECK(later["webhook-timestamp"] == "1792568880");
  CHECK(later["webhook-signature"] != first["webhook-signature"]);
  CHECK(later["webhook-signature"]
        == expected_signature("secret", "id-1", "1792568880", "body"));
}

TEST_CASE("H87: neither the headers nor a verdict hold the secret") {
  for (auto& [name, value] :
       webhook_headers("id-1", october, "PAYL0AD", "S3NTINEL")) {
    CHECK(value.find("S3NTINEL") == std::string::npos);
    CHECK(value.find("PAYL0AD") == std::string::npos);
  }
  CHECK(judge(answered(500), 5s).error == "status 500");
}
