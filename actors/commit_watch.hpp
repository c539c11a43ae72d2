// Sees that another process wrote to the store's file. docs/wake-up.md.
#pragma once

#include "actors/actors.hpp"
#include "actors/event.hpp"

#include <thread>

namespace alkstore {

/// A thread that sends the writer file_touched when the database or its WAL was
/// written to, and file_moved when one of their names was moved, deleted or
/// made. It watches the directory: a watch on the WAL itself goes blind when
/// the last connection closes and unlinks it. Where inotify cannot be had it
/// reports that once and sends file_touched every 50 ms. Errors: throws a
/// failure (io_error) without a file descriptor for its own end.
class commit_watch {
public:
  commit_watch(const std::string& path, writer_actor writer,
               const event_sink& report);
  commit_watch(const commit_watch&) = delete;
  commit_watch& operator=(const commit_watch&) = delete;
  ~commit_watch();

private:
  void run();
  void pause(std::chrono::microseconds how_long);
  void read_events();

  std::string file_; ///< the database's name within its directory
  writer_actor writer_;
  int events_ = -1; ///< inotify, or -1
  int stop_ = -1;   ///< eventfd, readable when it is time to end
  std::thread thread_;
};

} // namespace alkstore
