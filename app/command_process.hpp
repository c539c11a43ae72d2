// One running program: its pipes, its deadline, its end.
#pragma once

#include "app/command_runner.hpp"
#include "app/unique_fd.hpp"

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <chrono>

namespace alkstore {

/// A part of command_runner.
class command_process {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// The deadline counts from here.
  command_process(command_request request,
                  std::function<void(command_outcome)> done);

  /// Throws std::exception if the program did not start. Once it has, it has to
  /// be brought to its end.
  void start();

  /// What to poll for; a descriptor that is closed by now is -1.
  std::array<pollfd, 3> watched() const;

  /// When it has to be served even if poll saw nothing.
  time_point next_signal() const;

  /// Moves bytes and sends the signals that are due. True if the program has
  /// ended: `end` is next.
  bool serve(const pollfd* seen, time_point now);

  /// Sends SIGKILL to the process group.
  void kill();

  /// Waits for the program and calls `done`.
  void end(bool cancelled = false);

  /// Calls `done` for a program that is not running.
  void end_unstarted(command_outcome::end how, const std::string& error);

private:
  void feed();
  void read_errors();

  command_request request_;
  std::function<void(command_outcome)> done_;
  time_point terminate_at_;
  time_point kill_at_;

  pid_t pid_ = -1;
  unique_fd pidfd_; ///< readable once the program has ended
  unique_fd input_;
  unique_fd errors_;
  size_t fed_ = 0;
  std::string error_tail_;
  bool terminated_ = false; ///< SIGTERM was sent
  bool killed_ = false;
};

} // namespace alkstore
