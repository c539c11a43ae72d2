// A program under test, run as a child process.
#pragma once

#include "app/unique_fd.hpp"
#include "tests/system/line_log.hpp"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace alkstore::test {

struct child_options {
  std::vector<std::string> argv; ///< argv[0] is the program's path
  std::string directory = ".";   ///< where it runs
  std::string input = "/dev/null";
  std::vector<std::string> environment; ///< NAME=value, besides our own
  /// Runs as the user nobody if we are root, whom no permission stops.
  bool unprivileged = false;
  /// Where its lines go, standard error's among them; one of its own if null.
  std::shared_ptr<line_log> log;
};

/// Ends with this object, and with the process that made it.
class child_process {
public:
  explicit child_process(child_options options);
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process();

  pid_t pid() const { return pid_; }

  void signal(int number);

  /// SIGKILL, and it is gone on return.
  void kill();

  /// SIGSTOP, and it stands still on return.
  void freeze();

  /// Waits for its end. 128 and the signal's number if one ended it. Throws
  /// std::runtime_error, with its lines, if it does not end.
  int exit_status(millis within = patience);

  /// See line_log; this process's lines.
  log_line await(const std::string& piece, size_t count = 1) {
    return log_->await(piece, count, pid_);
  }
  bool stays_without(const std::string& piece, millis length) {
    return log_->stays_without(piece, length, pid_);
  }
  size_t count(const std::string& piece) const {
    return log_->count(piece, pid_);
  }
  std::vector<log_line> matching(const std::string& piece) const {
    return log_->matching(piece, pid_);
  }
  std::string output() const { return log_->text(pid_); }

private:
  void read_lines();

  std::shared_ptr<line_log> log_;
  pid_t pid_ = 0;
  unique_fd process_; ///< readable once it has ended
  unique_fd output_;
  unique_fd ended_;
  std::optional<int> status_;
  std::thread reading_;
};

} // namespace alkstore::test
