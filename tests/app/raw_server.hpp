// A server on the loopback that says, or leaves unsaid, whatever a test wants.
#pragma once

#include "app/unique_fd.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace alkstore::test {

/// Runs a function for each connection, each on a thread of its own. Ends all
/// connections and waits for the functions when it goes.
class raw_server {
public:
  using serve_function = std::function<void(int fd)>;

  explicit raw_server(serve_function serve);
  ~raw_server();

  /// `http://127.0.0.1:<port>` or the like.
  std::string url(const std::string& scheme = "http") const;

  int port() const { return port_; }
  int connections() const { return connections_; }

private:
  void accept_all();

  serve_function serve_;
  unique_fd listener_;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::vector<unique_fd> sockets_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

/// One whole request; empty if the peer closed instead.
std::string read_request(int fd);

/// False if the peer is gone.
bool write_all(int fd, std::string_view text);

/// Drops what comes until the peer closes.
void await_close(int fd);

/// Sends a byte every 10 ms until the text is over or the peer closes.
void trickle(int fd, std::string_view text);

} // namespace alkstore::test
