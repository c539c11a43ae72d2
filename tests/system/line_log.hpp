// What child processes printed, as something to wait for.
#pragma once

#include "substrate/time.hpp"

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace alkstore::test {

/// Longer than anything takes on a machine that is busy with other tests.
constexpr millis patience{30'000};

/// One line of one process.
struct log_line {
  pid_t from = 0;
  steady_time at{}; ///< when it was read
  std::string text;
};

/// The lines of one process, or of several in the order they were read.
class line_log {
public:
  /// All processes.
  static constexpr pid_t anyone = 0;

  void add(pid_t from, std::string text);

  /// No more lines come from that process.
  void end(pid_t from);

  /// Waits until `from` has printed `count` lines that contain `piece`; answers
  /// the last of these. Throws std::runtime_error, with the log, if they do not
  /// come or `from` has ended without them.
  log_line await(const std::string& piece, size_t count = 1,
                 pid_t from = anyone, millis within = patience);

  /// False as soon as there is one more such line; true after `length`.
  bool stays_without(const std::string& piece, millis length,
                     pid_t from = anyone);

  std::vector<log_line> matching(const std::string& piece,
                                 pid_t from = anyone) const;
  size_t count(const std::string& piece, pid_t from = anyone) const;
  std::string text(pid_t from = anyone) const;

private:
  std::vector<log_line> find(const std::string& piece, pid_t from) const;

  mutable std::mutex mutex_;
  std::condition_variable grown_;
  std::vector<log_line> lines_;
  std::set<pid_t> ended_;
};

/// The machine's steady clock.
steady_time steady_now();

} // namespace alkstore::test
