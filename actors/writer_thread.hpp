// The thread of the only actor that writes.
#pragma once

#include "actors/caf_port_executor.hpp"
#include "actors/commit_watch.hpp"

#include <atomic>
#include <memory>

namespace alkstore {

/// Runs one actor, and waits in one place for its messages and for other
/// processes' commits: CAF's own threads wait for messages only, and a thread
/// that watches the file for them would be one more to be woken, by own commits
/// too. docs/wake-up.md, decisions/0010.
class writer_thread final : public port::executor {
public:
  /// Errors: throws a failure (io_error) without a file descriptor.
  explicit writer_thread(caf::actor_system& sys);
  writer_thread(const writer_thread&) = delete;
  writer_thread& operator=(const writer_thread&) = delete;
  ~writer_thread() override;

  /// Starts `self` for the actor that it was given as its executor. What is
  /// seen of the file at `path` is sent to it, as file_touched and file_moved.
  static void start(std::shared_ptr<writer_thread> self,
                    const writer_actor& actor, const std::string& path,
                    const event_sink& report);

  /// Wakes it up for the actor.
  void ready(caf::resumable* x) override;

  /// The actor has seen, in a transaction, what others had committed.
  void has_looked() { watch_->has_looked(); }

  /// Ends it, once the actor has returned. From any thread.
  void end();

private:
  class host;

  void run(port::enqueue_context* context);
  void wait();
  void wake();
  void tell_what_was_seen(commit_watch::sight x);

  int wake_; ///< eventfd
  std::atomic<caf::resumable*> ready_{nullptr};
  std::atomic<bool> asleep_{false};
  std::atomic<bool> ended_{false};

  // Only its own thread, from here on.
  std::unique_ptr<commit_watch> watch_;
  caf::actor_addr actor_; ///< does not keep it alive
};

} // namespace alkstore
