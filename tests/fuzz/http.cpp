// An endpoint's answer, from its first byte to whatever it ends with.
#include "app/http_exchange.hpp"
#include "app/retry_after.hpp"
#include "app/webhook.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/temp_dir.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <optional>
#include <thread>

namespace alkstore::fuzz {

namespace {

// Answers each connection to a socket in the file system, which wears out no
// ports. One exchange at a time.
class server {
public:
  server() {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path().copy(at.sun_path, sizeof at.sun_path - 1);
    listening_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(::bind(listening_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0
              && ::listen(listening_, 8) == 0,
            "a socket that listens");
    std::thread{[this] { run(); }}.detach(); // until the program ends
  }

  std::string path() const { return dir_.path("http"); }

  void answer_with(std::string_view bytes) {
    std::lock_guard lock{mutex_};
    answer_ = bytes;
  }

private:
  void run() {
    for (;;) {
      auto client = ::accept(listening_, nullptr, nullptr);
      std::string answer;
      {
        std::lock_guard lock{mutex_};
        answer = answer_;
      }
      ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::shutdown(client, SHUT_WR);
      std::array<char, 4096> request{};
      while (::recv(client, request.data(), request.size(), 0) > 0) {
      }
      ::close(client);
    }
  }

  test::temp_dir dir_;
  int listening_ = -1;
  std::mutex mutex_;
  std::string answer_;
};

} // namespace

void http(std::string_view input) {
  timestamp now{std::chrono::seconds{1'700'000'000}};
  if (auto wait = parse_retry_after(std::string{input}, now))
    require(*wait >= millis{0}, "nobody waits backwards");

  std::optional<http_outcome> got;
  http_exchange exchange{{"http://127.0.0.1:1/", {}, "body", millis{2000}},
                         [&](http_outcome x) { got = std::move(x); },
                         private_targets::allowed,
                         clock::system()};
  auto easy = exchange.prepare();
  static auto& endpoint = *new server;
  endpoint.answer_with(input.substr(0, 100'000));
  curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, endpoint.path().c_str());
  exchange.end(curl_easy_perform(easy));
  require(got.has_value(), "there is an outcome");
  require((got->status == 0) == !got->error.empty(),
          "a status, or why there is none");
  require(got->status == 0 || got->status >= 200, "the status is a final one");
  if (got->retry_after)
    require(*got->retry_after >= millis{0}, "nobody waits backwards");
  for (auto backoff : {millis{1}, millis{5000}, millis{3'600'000}}) {
    auto verdict = judge(*got, backoff);
    auto ok = got->status >= 200 && got->status < 300;
    require((verdict.job == webhook_verdict::fate::delivered) == ok,
            "2xx is delivered");
    require(verdict.error.empty() == ok, "anything else has a reason");
    if (verdict.job == webhook_verdict::fate::retry)
      require(verdict.delay >= backoff && verdict.delay <= longest_retry_delay,
              "between the backoff and an hour");
  }
}

} // namespace alkstore::fuzz
