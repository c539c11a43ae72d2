// Sees that another process wrote to the store's file. docs/wake-up.md.
#pragma once

#include "actors/actors.hpp"
#include "actors/event.hpp"

namespace alkstore {

/// Watches the directory of a database: a watch on the WAL itself goes blind
/// when the last connection closes and unlinks it. Where inotify cannot be had
/// it reports that once and says "touched" every 50 ms. Not thread-safe.
class commit_watch {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// What happened to the file since the last look.
  struct sight {
    bool touched = false; ///< the database or its WAL was written to
    bool moved = false;   ///< one of their names was moved, deleted or made
  };

  commit_watch(const std::string& path, const event_sink& report);
  commit_watch(const commit_watch&) = delete;
  commit_watch& operator=(const commit_watch&) = delete;
  ~commit_watch();

  /// To be polled for input; negative when only time is to be waited for.
  int descriptor() const { return look_at_ ? -1 : events_; }

  /// How long to wait at most; none: for ever.
  std::optional<std::chrono::nanoseconds> patience(time_point now) const;

  /// To be called after each wait. `readable`: the descriptor has input.
  sight look(bool readable, time_point now);

  /// This process may just have committed, which raises events, too.
  void worked(time_point now) { busy_ = now; }

  /// A transaction of this process has seen what others had committed.
  void has_looked();

private:
  sight read_events();

  std::string file_; ///< the database's name within its directory
  int events_ = -1;  ///< inotify, or -1
  std::optional<time_point> look_at_; ///< for what was seen
  time_point busy_{};                 ///< the last look or own work
};

} // namespace alkstore
