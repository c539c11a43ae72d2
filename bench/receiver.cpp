#include "bench/receiver.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace alkstore::bench {

namespace {

constexpr std::string_view answer = "HTTP/1.1 200 OK\r\n"
                                    "Content-Length: 0\r\n\r\n";

// The length of the request at the front of `text`; 0 while it is not whole.
size_t request_length(const std::string& text) {
  auto head = text.find("\r\n\r\n");
  if (head == std::string::npos)
    return 0;
  size_t body = 0;
  for (auto name : {"content-length:", "Content-Length:"})
    if (auto at = text.find(name); at < head)
      body = std::stoul(text.substr(at + 15));
  auto whole = head + 4 + body;
  return text.size() < whole ? 0 : whole;
}

} // namespace

receiver::receiver(handover& received)
  : received_(received), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto raw = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, raw, size) != 0
      || ::listen(listener_, 8) != 0
      || ::getsockname(listener_, raw, &size) != 0)
    throw std::runtime_error{"cannot listen on the loopback"};
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { serve(); }};
}

receiver::~receiver() {
  ::shutdown(listener_, SHUT_RDWR); // ends accept()
  thread_.join();
  ::close(listener_);
}

std::string receiver::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/";
}

void receiver::serve() {
  for (;;) {
    auto connection = ::accept(listener_, nullptr, nullptr);
    if (connection < 0)
      return;
    int on = 1;
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    answer_all(connection);
    ::close(connection);
  }
}

void receiver::answer_all(int connection) {
  std::string text;
  std::array<char, 8192> buffer;
  for (;;) {
    auto got = ::recv(connection, buffer.data(), buffer.size(), 0);
    if (got <= 0)
      return;
    text.append(buffer.data(), static_cast<size_t>(got));
    while (auto length = request_length(text)) {
      received_.set_now();
      text.erase(0, length);
      if (::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) < 0)
        return;
    }
  }
}

} // namespace alkstore::bench
