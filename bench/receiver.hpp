// A loopback HTTP server that notes when a request has come in whole.
#pragma once

#include "bench/handover.hpp"

#include <string>
#include <thread>

namespace alkstore::bench {

/// Answers every request on one connection at a time with 200. Sockets and
/// nothing else, so that it costs as little as it can.
class receiver {
public:
  explicit receiver(handover& received);
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;
  ~receiver();

  std::string url() const;

private:
  void serve();
  void answer_all(int connection);

  handover& received_;
  int listener_;
  int port_ = 0;
  std::thread thread_;
};

} // namespace alkstore::bench
