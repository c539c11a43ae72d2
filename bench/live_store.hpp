// A store of actors on a file, as an application embeds it.
#pragma once

#include "actors/errors.hpp"
#include "actors/runtime.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <string>

namespace alkstore::bench {

/// CAF's own choice, or the one that the node makes.
enum class scheduler { stealing, sharing };

class system_config : public caf::actor_system_config {
public:
  explicit system_config(scheduler choice);
};

/// An actor system and a store in it, stopped in good order when it goes.
class live_store {
public:
  live_store(runtime_options options, scheduler choice);

  /// On `path`, without schedules, queues and outboxes.
  live_store(const std::string& path, scheduler choice);
  live_store(const live_store&) = delete;
  live_store& operator=(const live_store&) = delete;
  ~live_store();

  caf::actor_system& system() noexcept { return sys_; }
  const store_actor& store() const noexcept { return handles_.store; }

  /// Starts a consumer of a plain queue with an application's handler, the
  /// default concurrency and `credit`.
  void work_off(const std::string& queue, const handler_factory& handler,
                int credit, event_sink report);

  /// The answer of a request. Throws std::runtime_error for an error.
  template <class Reply, class Message>
  Reply ask(Message message) {
    return ask<Reply>(handles_.store, std::move(message));
  }
  template <class Reply, class To, class Message>
  Reply ask(const To& to, Message message) {
    Reply out{};
    caf::error failed;
    port::ask(self_, caf::infinite, to, std::move(message))
      .receive([&](Reply& x) { out = std::move(x); },
               [&](const caf::error& why) { failed = why; });
    if (failed)
      throw std::runtime_error{sentence(sys_, failed)};
    return out;
  }

private:
  system_config config_;
  caf::actor_system sys_;
  caf::scoped_actor self_;
  runtime_actor runtime_;
  store_handles handles_;
  std::vector<consumer_actor> consumers_;
};

/// Waits until something has happened so many times.
class countdown {
public:
  explicit countdown(int64_t count) : left_(count) {}
  void one() {
    if (left_.fetch_sub(1) == 1)
      done_.set_value();
  }
  void wait() { done_.get_future().wait(); }

private:
  std::atomic<int64_t> left_;
  std::promise<void> done_;
};

/// A handler actor that answers `delivered` and does nothing else.
handler_actor spawn_noop_handler(caf::actor_system& sys);

} // namespace alkstore::bench
