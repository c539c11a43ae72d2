#include "app/http_client.hpp"

#include "tests/app/environment_variable.hpp"
#include "tests/app/raw_server.hpp"
#include "tests/catch.hpp"

#include <httplib.h>
#include <netdb.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>

using namespace alkstore;
using namespace alkstore::test;
using namespace std::chrono_literals;

namespace {

constexpr auto long_enough = 20s;
const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

class fixed_clock : public clock {
public:
  explicit fixed_clock(timestamp now) : now_(now) {}
  timestamp wall_now() const override { return now_; }
  steady_time steady_now() const override { return {}; }

private:
  timestamp now_;
};

std::future<http_outcome> post(http_client& client, http_request request) {
  auto promise = std::make_shared<std::promise<http_outcome>>();
  auto result = promise->get_future();
  // A second call would throw, and end the test program.
  client.post(std::move(request), [promise](http_outcome outcome) {
    promise->set_value(std::move(outcome));
  });
  return result;
}

http_outcome post_to(const std::string& url, millis timeout = long_enough) {
  http_client client{private_targets::allowed};
  return post(client, {url, {}, "payload", timeout}).get();
}

// httplib on a port of its own.
template <class Server>
class listening {
public:
  template <class... Args>
  explicit listening(Args&&... args) : server(std::forward<Args>(args)...) {
    port = server.bind_to_any_port("127.0.0.1");
    thread_ = std::thread{[this] { server.listen_after_bind(); }};
    while (!server.is_running())
      std::this_thread::yield();
  }

  ~listening() {
    server.stop();
    thread_.join();
  }

  std::string url(const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(port);
  }

  Server server;
  int port = 0;

private:
  std::thread thread_;
};

raw_server::serve_function answer(const std::string& text) {
  return [text](int fd) {
    while (!read_request(fd).empty() && write_all(fd, text))
      continue;
  };
}

// This machine's own name if it leads to private addresses only, else nothing.
std::string private_host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name, nullptr, &hints, &found) != 0)
    return {};
  bool all_private = true;
  for (auto* each = found; each != nullptr; each = each->ai_next)
    all_private = all_private && is_private(*each->ai_addr);
  ::freeaddrinfo(found);
  return all_private ? name : "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a request arrives as it was given, byte for byte") {
  listening<httplib::Server> receiver;
  httplib::Request seen;
  receiver.server.Post("/in", [&](const httplib::Request& request,
                                  httplib::Response&) { seen = request; });
  std::string body("\0\xff body \r\n", 10);
  body.resize(3'000'000, 'x');
  http_client client{private_targets::allowed};
  auto outcome =
    post(client, {receiver.url() + "/in?q=1",
                  {{"Content-Type", "application/json"}, {"webhook-id", "7"}},
                  body,
                  long_enough})
      .get();
  CHECK(outcome.status == 200);
  CHECK(outcome.error.empty());
  CHECK_FALSE(outcome.remote_ended);
  CHECK(seen.method == "POST");
  CHECK(seen.target == "/in?q=1");
  CHECK(seen.body == body);
  CHECK(seen.get_header_value("webhook-id") == "7");
  CHECK(seen.get_header_value("User-Agent") == "alkstore");
  CHECK(seen.get_header_value_count("Content-Type") == 1);
  CHECK(seen.get_header_value("Content-Type") == "application/json");
  CHECK_FALSE(seen.has_header("Expect"));
}

TEST_CASE("an empty body and an empty header value are sent as such") {
  std::promise<std::string> seen;
  raw_server receiver{[&](int fd) {
    seen.set_value(read_request(fd));
    write_all(fd, ok);
  }};
  http_client client{private_targets::allowed};
  CHECK(post(client, {receiver.url(), {{"x-empty", ""}}, "", long_enough})
          .get()
          .status
        == 200);
  auto request = seen.get_future().get();
  CHECK(contains(request, "POST / HTTP/1.1\r\n"));
  CHECK(contains(request, "Content-Length: 0\r\n"));
  CHECK(contains(request, "x-empty:\r\n"));
  CHECK_FALSE(contains(request, "Content-Type"));
}

TEST_CASE("H77: one deadline holds against every way of being slow") {
  const std::string endless(1000, 'x');
  std::promise<void> timed_out;
  std::promise<void> closed;
  std::string scheme = "http";
  std::string body = "payload";
  raw_server::serve_function serve = [](int) {};
  SECTION("a header that trickles") {
    serve = [&](int fd) {
      read_request(fd);
      trickle(fd, "HTTP/1.1 200 OK\r\nX-Long: " + endless);
    };
  }
  SECTION("a body that trickles") {
    serve = [&](int fd) {
      read_request(fd);
      write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
      trickle(fd, endless);
    };
  }
  SECTION("a receiver that never reads") {
    body.resize(16'000'000, 'b'); // more than the sockets hold
    serve = [&](int) { timed_out.get_future().wait(); };
  }
  SECTION("a TLS handshake that is never completed") {
    scheme = "https";
  }
  raw_server receiver{[&](int fd) {
    serve(fd);
    await_close(fd);
    closed.set_value();
  }};
  http_client client{private_targets::allowed};
  auto begin = std::chrono::steady_clock::now();
  auto outcome = post(client, {receiver.url(scheme), {}, body, 300ms}).get();
  auto took = std::chrono::steady_clock::now() - begin;
  timed_out.set_value();
  CHECK(took > 299ms);
  CHECK(took < 800ms);
  CHECK(outcome.status == 0);
  CHECK(outcome.error
        == "127.0.0.1:" + std::to_string(receiver.port())
             + ": timeout after 300 ms");
  CHECK(closed.get_future().wait_for(long_enough) == std::future_status::ready);
}

TEST_CASE("a request without time left is not sent") {
  raw_server receiver{answer(ok)};
  CHECK(contains(post_to(receiver.url(), 0ms).error, "timeout"));
  CHECK(contains(post_to(receiver.url(), -5ms).error, "timeout"));
  CHECK(receiver.connections() == 0);
}

TEST_CASE("H79: a redirect is an answer, and nobody goes there") {
  listening<httplib::Server> receiver;
  std::atomic<int> at_target = 0;
  auto target = [&](const httplib::Request&, httplib::Response&) {
    ++at_target;
  };
  receiver.server.Post("/target", target).Get("/target", target);
  receiver.server.Post(R"(/(\d+)(/self)?)", [](const httplib::Request& request,
                                               httplib::Response& response) {
    response.status = std::stoi(request.matches[1]);
    response.set_header("Location", request.matches[2].length() > 0
                                      ? request.path
                                      : std::string{"/target"});
  });
  for (int status : {301, 302, 303, 307, 308}) {
    CHECK(post_to(receiver.url() + "/" + std::to_string(status)).status
          == status);
    CHECK(
      post_to(receiver.url() + "/" + std::to_string(status) + "/self").status
      == status);
  }
  CHECK(at_target == 0);
}

TEST_CASE("H80: the final status comes back, whatever it is") {
  for (int status : {200, 204, 299, 400, 401, 404, 408, 410, 422, 425, 429, 500,
                     503, 599, 999}) {
    auto line = "HTTP/1.1 " + std::to_string(status) + " Text\r\n";
    raw_server receiver{answer(line + "Content-Length: 0\r\n\r\n")};
    auto outcome = post_to(receiver.url());
    CHECK(outcome.status == status);
    CHECK(outcome.error.empty());
    CHECK(receiver.connections() == 1);
  }
  raw_server patient{
    answer("HTTP/1.1 100 Continue\r\nRetry-After: 9\r\n\r\n" + ok)};
  auto outcome = post_to(patient.url());
  CHECK(outcome.status == 200);
  CHECK_FALSE(outcome.retry_after);
  raw_server unfinished{[](int fd) {
    read_request(fd);
    write_all(fd, "HTTP/1.1 100 Continue\r\n\r\n");
  }};
  CHECK(post_to(unfinished.url()).status == 0);
}

TEST_CASE("H80: a status line among the headers or behind the answer is none") {
  for (std::string fields :
       {"HTTP/1.1 999: x\r\n", "X: y\r\n  \r\nHTTP/.2 9999999999999: x\r\n"}) {
    raw_server receiver{
      answer("HTTP/1.1 503 Busy\r\n" + fields
             + "Retry-After: 7\r\nContent-Length: 0\r\n\r\n")};
    auto outcome = post_to(receiver.url());
    CHECK(outcome.status == 503);
    CHECK(outcome.error.empty());
    CHECK(outcome.retry_after == 7s);
  }
  raw_server with_trailers{
    answer("HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n"
           "1\r\nx\r\n0\r\nRetry-After: 7\r\nHTTP/1.1 200: x\r\n\r\n")};
  auto outcome = post_to(with_trailers.url());
  CHECK(outcome.status == 503);
  CHECK_FALSE(outcome.retry_after);
}

TEST_CASE("H81: of several Retry-After headers the largest valid one counts") {
  // Wed, 21 Oct 2026 07:28:00 GMT
  fixed_clock time{timestamp{1792567680s}};
  http_client client{private_targets::allowed, time};
  auto asked = [&](const std::string& fields) {
    raw_server receiver{
      answer("HTTP/1.1 503 Busy\r\n" + fields + "Content-Length: 0\r\n\r\n")};
    return post(client, {receiver.url(), {}, "", long_enough})
      .get()
      .retry_after;
  };
  CHECK(asked("Retry-After: 120\r\n") == 120s);
  CHECK(asked("retry-after:120  \r\n") == 120s);
  CHECK(asked("Retry-After: Wed, 21 Oct 2026 07:30:00 GMT\r\n") == 120s);
  CHECK(asked("Retry-After: 5\r\nRetry-After: 120\r\n") == 120s);
  CHECK(asked("Retry-After: 120\r\nRetry-After: 5\r\n") == 120s);
  CHECK(asked("Retry-After: -5\r\nRetry-After: 5\r\n") == 5s);
  CHECK(asked("Retry-After: -5\r\n") == std::nullopt);
  CHECK(asked("Retry-After:\r\n") == std::nullopt);
  CHECK(asked("X-Retry-After: 5\r\n") == std::nullopt);
  CHECK(asked("") == std::nullopt);
}

TEST_CASE("H82: with private targets refused nothing connects to one") {
  raw_server internal{answer(ok)};
  auto port = std::to_string(internal.port());
  http_client client{private_targets::refused};
  for (std::string host :
       {"127.0.0.1", "2130706433", "0x7f.1", "127.1", "localhost",
        "[::ffff:127.0.0.1]", "0.0.0.0", "[::1]"}) {
    INFO(host);
    auto url = "http://" + host.append(":").append(port);
    auto outcome = post(client, {url, {}, "payload", long_enough}).get();
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.error, "blocked target"));
  }
  // A name has to be resolved first.
  auto machine = private_host_name();
  if (machine.empty())
    WARN("this machine's name leads to no private address");
  auto url = "http://" + machine + ":" + port;
  auto outcome = post(client, {url, {}, "payload", long_enough}).get();
  CHECK((machine.empty()
         || contains(outcome.error,
                     "blocked target: " + machine + ":" + port + " is at ")));
  CHECK(internal.connections() == 0);

  // A redirect to an internal address is not followed either.
  raw_server entrance{answer("HTTP/1.1 307 There\r\nLocation: " + internal.url()
                             + "/\r\nContent-Length: 0\r\n\r\n")};
  CHECK(post_to(entrance.url()).status == 307);
  CHECK(internal.connections() == 0);
}

TEST_CASE("H82: the reason for a refused target names it") {
  using enum private_targets;
  for (std::string url : {"http://127.0.0.1/",
                          "http://[::1]/",
                          "http://0.0.0.0/",
                          "http://2130706433/",
                          "http://[::ffff:127.0.0.1]/",
                          "http://0x7f.1/",
                          "http://017700000001/",
                          "http://10.1.2.3/",
                          "http://172.31.0.1/",
                          "http://192.168.0.1/",
                          "http://100.64.0.1/",
                          "http://169.254.169.254/",
                          "http://224.0.0.1/",
                          "http://255.255.255.255/",
                          "http://[::]/",
                          "http://[fe80::1%25eth0]/",
                          "http://[fd00::1]/",
                          "http://[ff02::1]/",
                          "http://[::127.0.0.1]/",
                          "http://[64:ff9b::10.0.0.1]/",
                          "http://[64:ff9b:1::1]/",
                          "http://[2002:7f00:1::]/",
                          "http://[2001:db8::1]/",
                          "http://localhost/",
                          "http://LocalHost./",
                          "http://a.localhost/",
                          "https://u:p@127.0.0.1:8080/x?y"}) {
    INFO(url);
    CHECK(contains(refuse_target(url, refused), "blocked target"));
    CHECK(refuse_target(url, allowed).empty());
  }
  for (std::string url : {"https://example.com/hook", "http://8.8.8.8:81/",
                          "http://[2606:4700::1111]/", "http://172.32.0.1/",
                          "http://[::ffff:8.8.8.8]/", "http://100.128.0.1/",
                          "http://[64:ff9b::8.8.8.8]/", "http://notlocalhost/",
                          "http://localhost.example.com/"}) {
    INFO(url);
    CHECK(refuse_target(url, refused).empty());
  }
  for (std::string url :
       {"file:///etc/passwd", "ftp://example.com/", "gopher:x", "example.com",
        "http://", "http://a b/", "", "http://example.com:99999/"}) {
    INFO(url);
    CHECK(refuse_target(url, allowed) == "not a valid http or https URL");
    CHECK(post_to(url).error == "not a valid http or https URL");
  }
}

// -- H87 ----------------------------------------------------------------------

namespace {

// A certificate that nobody has signed but itself.
class self_signed {
public:
  self_signed() : key_(EVP_RSA_gen(2048)), certificate_(X509_new()) {
    auto* name = X509_get_subject_name(certificate_);
    X509_NAME_add_entry_by_txt(
      name, "CN", MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>("127.0.0.1"), -1, -1, 0);
    X509_set_issuer_name(certificate_, name);
    X509_gmtime_adj(X509_getm_notBefore(certificate_), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate_), 3600);
    X509_set_pubkey(certificate_, key_);
    X509_sign(certificate_, key_, EVP_sha256());
  }

  ~self_signed() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }

  EVP_PKEY* key() { return key_; }
  X509* certificate() { return certificate_; }

private:
  EVP_PKEY* key_;
  X509* certificate_;
};

} // namespace

TEST_CASE("H87: an error names the host and keeps every secret") {
  const http_headers headers{{"Authorization", "Bearer S3NTINEL"}};
  auto error = [&](http_client& client, const std::string& scheme, int port,
                   millis timeout) {
    auto url = scheme + "://u:S3NTINEL@127.0.0.1:" + std::to_string(port)
               + "/p?token=S3NTINEL#S3NTINEL";
    auto outcome = post(client, {url, headers, "PAYL0AD", timeout}).get();
    CHECK(outcome.status == 0);
    CHECK_FALSE(contains(outcome.error, "S3NTINEL"));
    CHECK_FALSE(contains(outcome.error, "PAYL0AD"));
    CHECK(contains(outcome.error, "127.0.0.1"));
    return outcome.error;
  };
  http_client client{private_targets::allowed};
  SECTION("timeout") {
    raw_server silent{await_close};
    CHECK(contains(error(client, "http", silent.port(), 50ms), "timeout"));
  }
  SECTION("refused address") {
    http_client guarded{private_targets::refused};
    CHECK(contains(error(guarded, "http", 1, long_enough), "blocked target"));
  }
  SECTION("nobody listens") {
    auto port = std::make_unique<raw_server>(await_close)->port();
    CHECK(
      contains(error(client, "http", port, long_enough), "Connection refused"));
  }
  SECTION("bad certificate") {
    self_signed own;
    listening<httplib::SSLServer> receiver{own.certificate(), own.key()};
    CHECK(contains(error(client, "https", receiver.port, long_enough),
                   "certificate"));
  }
  SECTION("no TLS at all") {
    raw_server plain{[](int fd) { write_all(fd, ok); }};
    CHECK(contains(error(client, "https", plain.port(), long_enough), "SSL"));
  }
  SECTION("no HTTP at all") {
    raw_server other{answer("220 mail.example ESMTP\r\n")};
    CHECK(
      contains(error(client, "http", other.port(), long_enough), "not HTTP"));
  }
  SECTION("a connection that ends") {
    raw_server rude{[](int fd) { read_request(fd); }};
    CHECK(contains(error(client, "http", rude.port(), long_enough), "ended"));
  }
}

TEST_CASE("H87: a URL or header that is refused is not repeated") {
  http_client client{private_targets::allowed};
  raw_server receiver{answer(ok)};
  for (std::string url : {"S3NTINEL", "http://u:S3NTINEL@a b/", "S3NTINEL://h/",
                          "http://S3NTINEL@:80:80/"}) {
    auto outcome = post(client, {url, {}, "", long_enough}).get();
    CHECK(outcome.status == 0);
    CHECK_FALSE(contains(outcome.error, "S3NTINEL"));
  }
  const std::vector<http_headers> bad{{{"a", "S3NTINEL\r\nb: c"}},
                                      {{"S3NTINEL\n", "b"}},
                                      {{"S3NTINEL: x", "b"}},
                                      {{"a", std::string("S3NTINEL\0", 9)}},
                                      {{"", "S3NTINEL"}}};
  for (auto& headers : bad) {
    auto outcome =
      post(client, {receiver.url(), headers, "", long_enough}).get();
    CHECK(outcome.error == "a header's name or value is not valid");
  }
  CHECK(receiver.connections() == 0);
}

// -- connections --------------------------------------------------------------

TEST_CASE("an answer longer than 64 KiB is not read to its end") {
  std::promise<void> gave_up;
  raw_server receiver{[&](int fd) {
    read_request(fd);
    write_all(fd, "HTTP/1.1 202 OK\r\n\r\n");
    while (write_all(fd, std::string(8192, 'x')))
      continue;
    gave_up.set_value();
  }};
  auto outcome = post_to(receiver.url());
  CHECK(outcome.status == 202);
  CHECK_FALSE(outcome.remote_ended);
  CHECK(gave_up.get_future().wait_for(long_enough)
        == std::future_status::ready);
}

TEST_CASE("a status counts though the receiver cuts its answer short") {
  raw_server receiver{[](int fd) {
    read_request(fd);
    write_all(fd, "HTTP/1.1 201 OK\r\nContent-Length: 10\r\n\r\nhalf");
  }};
  auto outcome = post_to(receiver.url());
  CHECK(outcome.status == 201);
  CHECK(outcome.remote_ended);
}

TEST_CASE("a receiver that ends the connection early is told from a timeout") {
  raw_server receiver{[](int) {}};
  http_client client{private_targets::allowed};
  for (size_t size : {size_t{10}, size_t{16'000'000}}) {
    auto outcome =
      post(client, {receiver.url(), {}, std::string(size, 'b'), long_enough})
        .get();
    CHECK(outcome.status == 0);
    CHECK(outcome.remote_ended);
    CHECK(contains(outcome.error, "ended before the answer"));
  }
}

TEST_CASE("a refusal that comes before the body was taken counts") {
  raw_server receiver{[](int fd) {
    write_all(fd, "HTTP/1.1 413 Big\r\nContent-Length: 0\r\n\r\n");
    await_close(fd);
  }};
  std::string body;
  body.resize(16'000'000, 'b');
  http_client client{private_targets::allowed};
  CHECK(post(client, {receiver.url(), {}, body, long_enough}).get().status
        == 413);
}

TEST_CASE("a connection is kept for the next request") {
  raw_server receiver{answer(ok)};
  http_client client{private_targets::allowed};
  for (int i = 0; i < 20; ++i)
    CHECK(post(client, {receiver.url(), {}, "b", long_enough}).get().status
          == 200);
  CHECK(receiver.connections() == 1);
}

TEST_CASE("a kept connection that the receiver has closed is replaced") {
  raw_server receiver{[](int fd) {
    read_request(fd);
    write_all(fd, ok);
  }};
  http_client client{private_targets::allowed};
  for (int i = 0; i < 5; ++i)
    CHECK(post(client, {receiver.url(), {}, "b", long_enough}).get().status
          == 200);
  CHECK(receiver.connections() == 5);
}

TEST_CASE("many requests run at once") {
  std::atomic<int> waiting = 0;
  std::promise<void> all_here;
  auto gate = all_here.get_future().share();
  constexpr int count = 64;
  raw_server receiver{[&](int fd) {
    read_request(fd);
    if (++waiting == count)
      all_here.set_value();
    gate.wait();
    write_all(fd, ok);
  }};
  http_client client{private_targets::allowed};
  std::vector<std::future<http_outcome>> outcomes(count);
  for (auto& outcome : outcomes)
    outcome = post(client, {receiver.url(), {}, "b", long_enough});
  for (auto& outcome : outcomes)
    CHECK(outcome.get().status == 200);
}

TEST_CASE("a proxy in the environment is ignored") {
  environment_variable lower{"http_proxy", "http://127.0.0.1:1"};
  environment_variable all{"ALL_PROXY", "http://127.0.0.1:1"};
  raw_server receiver{answer(ok)};
  CHECK(post_to(receiver.url()).status == 200);
}

TEST_CASE("a client that goes cancels what is in flight") {
  constexpr int count = 10;
  std::atomic<int> arrived = 0;
  std::promise<void> all_here;
  raw_server silent{[&](int fd) {
    read_request(fd);
    if (++arrived == count)
      all_here.set_value();
    await_close(fd);
  }};
  std::vector<std::future<http_outcome>> outcomes;
  {
    http_client client{private_targets::allowed};
    for (int i = 0; i < count; ++i)
      outcomes.push_back(post(client, {silent.url(), {}, "b", long_enough}));
    all_here.get_future().wait();
    // These may not even have been looked at.
    for (int i = 0; i < count; ++i)
      outcomes.push_back(post(client, {silent.url(), {}, "b", long_enough}));
  }
  for (auto& outcome : outcomes) {
    REQUIRE(outcome.wait_for(0s) == std::future_status::ready);
    CHECK(outcome.get().error == "cancelled");
  }
}

TEST_CASE("an answer may lead to the next request") {
  raw_server receiver{answer(ok)};
  http_client client{private_targets::allowed};
  std::promise<http_outcome> second;
  client.post({receiver.url(), {}, "b", long_enough}, [&](http_outcome) {
    client.post({receiver.url(), {}, "b", long_enough},
                [&](http_outcome outcome) { second.set_value(outcome); });
  });
  CHECK(second.get_future().get().status == 200);
}
