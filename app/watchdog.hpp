// Ends a process whose orderly end hangs.
#pragma once

#include "substrate/time.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace alkstore {

/// Sleeps until it is told to watch; then, unless it goes or is told something
/// else in time, writes a log line that says where it hung and ends the process
/// with exit_software.
class watchdog {
public:
  watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog();

  /// From now on `what` may take `at_most`. From any thread.
  void expect(std::string what, millis at_most);

private:
  using clock = std::chrono::steady_clock;

  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::optional<clock::time_point> end_; ///< of its patience
  bool dismissed_ = false;
  std::thread thread_;
};

} // namespace alkstore
