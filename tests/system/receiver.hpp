// An HTTP endpoint on the loopback that answers by a script and keeps what it
// got.
#pragma once

#include "tests/app/raw_server.hpp"
#include "tests/system/line_log.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace alkstore::test {

struct received {
  std::string method;
  std::string path;
  std::map<std::string, std::string> headers; ///< names in small letters
  std::string body;
  steady_time at{};

  const std::string& id() const { return headers.at("webhook-id"); }
};

struct answer {
  std::string text;    ///< raw; see status()
  bool silent = false; ///< nothing is said until the peer closes
  bool held = false;   ///< not before release()

  /// An answer with that status; `more`: header lines, each with its CR LF.
  static answer status(int code, const std::string& more = "");
  static answer never() { return {{}, true, false}; }
  static answer later(int code) { return {status(code).text, false, true}; }
};

class receiver {
public:
  /// Called for each request, from several threads at once.
  using script = std::function<answer(const received&)>;

  explicit receiver(script answers = [](const received&) {
    return answer::status(200);
  });
  ~receiver();

  /// `http://127.0.0.1:<port>` and the path.
  std::string url(const std::string& path = "/hook") const {
    return server_.url() + path;
  }
  int port() const { return server_.port(); }

  using condition = std::function<bool(const std::vector<received>&)>;

  /// Waits until the requests so far are as wanted, or are that many. Throws
  /// std::runtime_error if that does not come.
  void await(const condition& wanted);
  void await(size_t count);

  /// Lets the held answers go, and all after them.
  void release();

  std::vector<received> requests() const;
  size_t count() const { return requests().size(); }

private:
  void serve(int fd);

  script answers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<received> requests_;
  bool released_ = false;
  raw_server server_; // last: its threads use the others
};

} // namespace alkstore::test
