// POST requests over HTTP/1.1, many at once on one thread.
#pragma once

#include "app/target.hpp"
#include "substrate/clock.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace alkstore {

/// Names and values.
using http_headers = std::vector<std::pair<std::string, std::string>>;

struct http_request {
  /// http or https. User name and password in it become basic authorization.
  std::string url;
  /// Sent as they are, besides Host, Content-Length, Accept and User-Agent
  /// (`alkstore`, unless named here). There is no default Content-Type.
  http_headers headers;
  /// Any bytes.
  std::string body;
  /// One deadline over the whole exchange, from name resolution to the last
  /// byte read. Not positive: over before it began.
  millis timeout{0};
};

struct http_outcome {
  /// The answer's status. 0 if none came in time; also when the deadline passed
  /// while the answer's body was still coming.
  int status = 0;
  /// Why there is no status; empty exactly when there is one. Names the host at
  /// most: nothing of the URL's other parts, the headers or the body.
  std::string error;
  /// What the answer's Retry-After asks for. Of several headers the largest
  /// valid value counts; a negative or garbled one and a date that has passed
  /// count as none.
  std::optional<millis> retry_after;
  /// The receiver closed or reset the connection before its answer was whole.
  /// If the status had come by then, it counts: the body is dropped anyway.
  bool remote_ended = false;
};

/// Sends requests from one thread of its own, which sleeps without a timer when
/// nothing is in flight. How many run at once is the caller's affair; up to 32
/// connections are kept for reuse. Redirects are not followed, proxies in the
/// environment, .netrc and cookies are ignored, certificates are verified. 64
/// KiB of an answer's body are read and dropped; of a longer one no more is
/// read, and its status counts.
class http_client {
public:
  /// With `refused`, the address is checked after resolution and that address
  /// is connected to. `time` (for dates in Retry-After) must outlive the
  /// client. Throws std::runtime_error if libcurl cannot be set up,
  /// std::system_error without a thread.
  explicit http_client(private_targets policy,
                       const clock& time = clock::system());

  /// Breaks off what is in flight, as error `cancelled`, and waits for the
  /// thread.
  ~http_client();

  /// Never blocks; from any thread. `done` is called exactly once, on the
  /// client's thread: it must be short and must not throw. It may post again.
  void post(http_request request, std::function<void(http_outcome)> done);

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace alkstore
