#include "tests/app/raw_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <stdexcept>

namespace alkstore::test {

raw_server::raw_server(serve_function serve) : serve_(std::move(serve)) {
  listener_ = unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), generic, size) != 0
      || ::listen(listener_.get(), 128) != 0
      || ::getsockname(listener_.get(), generic, &size) != 0)
    throw std::runtime_error("no server on the loopback");
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread{[this] { accept_all(); }};
}

raw_server::~raw_server() {
  ::shutdown(listener_.get(), SHUT_RDWR);
  accepting_.join();
  for (auto& socket : sockets_)
    ::shutdown(socket.get(), SHUT_RDWR);
  for (auto& thread : threads_)
    thread.join();
}

std::string raw_server::url(const std::string& scheme) const {
  return scheme + "://127.0.0.1:" + std::to_string(port_);
}

void raw_server::accept_all() {
  for (;;) {
    unique_fd socket{
      ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (!socket)
      return;
    ++connections_;
    threads_.emplace_back([this, fd = socket.get()] {
      serve_(fd);
      ::shutdown(fd, SHUT_RDWR);
    });
    sockets_.push_back(std::move(socket));
  }
}

std::string read_request(int fd) {
  std::string request;
  char buffer[16384];
  for (;;) {
    if (auto head = request.find("\r\n\r\n"); head != std::string::npos) {
      auto field = request.find("Content-Length: ");
      auto length = field < head ? std::atol(request.c_str() + field + 16) : 0;
      if (request.size() >= head + 4 + static_cast<size_t>(length))
        return request;
    }
    auto size = ::recv(fd, buffer, sizeof(buffer), 0);
    if (size <= 0)
      return {};
    request.append(buffer, static_cast<size_t>(size));
  }
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    auto size = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (size <= 0)
      return false;
    text.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

void await_close(int fd) {
  char buffer[16384];
  while (::recv(fd, buffer, sizeof(buffer), 0) > 0)
    continue;
}

void trickle(int fd, std::string_view text) {
  for (char c : text) {
    pollfd peer{fd, POLLRDHUP, 0};
    if (::poll(&peer, 1, 10) != 0 || !write_all(fd, {&c, 1}))
      return;
  }
}

} // namespace alkstore::test
