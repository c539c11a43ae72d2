// Programs run without a shell, many at once on one thread.
#pragma once

#include "substrate/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace alkstore {

struct command_request {
  /// The program, looked up in this process's PATH if it has no slash, and its
  /// arguments. No shell sees them; other users do, in the process list.
  std::vector<std::string> argv;
  /// Set over this process's own environment. `ALKSTORE_JOB_ID` and the like.
  std::vector<std::pair<std::string, std::string>> environment;
  /// Standard input; any bytes. The program need not read it.
  std::string input;
  /// From the call to the program's end. SIGTERM goes to its process group a
  /// fifth of this time, but at most 2 s, before it is up; SIGKILL when it is.
  /// Not positive: over before it began.
  millis timeout{0};
};

struct command_outcome {
  enum class end : uint8_t {
    exited,      ///< by itself; `code` is the exit status
    killed,      ///< by a signal that was not ours; `code` is its number
    timed_out,   ///< we ended it, whatever it said to that
    not_started, ///< not found, not executable, no descriptors, ...
    cancelled,   ///< the runner was destroyed
  };

  end how = end::not_started;
  int code = 0;
  /// Empty exactly for exit status 0. Else what happened, and the last 1 KiB
  /// that the program wrote to standard error, as it was written: it holds what
  /// the program put there, perhaps of the payload. Never arguments, input or
  /// environment.
  std::string error;
};

/// Runs programs from one thread of its own, which sleeps without a timer when
/// nothing runs. How many run at once is the caller's affair. A program gets
/// its own process group, default signal mask and dispositions, and no
/// descriptors but 0 to 2; standard output is dropped. It has ended when its
/// first process has: what that left behind in the background after ending by
/// itself stays.
class command_runner {
public:
  /// Throws std::system_error without descriptors or a thread. Sets SIGCHLD
  /// back to its default if it is ignored: exit statuses would be lost.
  command_runner();

  /// Kills what runs with its process group, as `cancelled`, and waits for it.
  ~command_runner();

  /// Never blocks; from any thread. `done` is called exactly once, on the
  /// runner's thread: it must be short and must not throw. It may run another.
  void run(command_request request, std::function<void(command_outcome)> done);

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace alkstore
