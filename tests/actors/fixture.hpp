// A real actor system on a fresh store, and a scoped actor that asks.
#pragma once

#include "actors/errors.hpp"
#include "actors/runtime.hpp"
#include "tests/catch.hpp"
#include "tests/support/temp_dir.hpp"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace alkstore::test {

/// The longest that any test waits for a message before it fails.
inline constexpr auto patience = std::chrono::seconds{20};

/// Collects events from the actors and lets a test wait for one.
class event_log {
public:
  event_sink sink() {
    return [this](const event& x) {
      std::lock_guard lock{mutex_};
      events_.push_back(x);
      changed_.notify_all();
    };
  }

  /// Waits for the `count`th event of that kind; fails the test without it.
  event wait_for(const std::string& what, size_t count = 1,
                 const std::string& name = {}) {
    std::unique_lock lock{mutex_};
    event found;
    auto there = changed_.wait_for(lock, patience, [&] {
      size_t seen = 0;
      for (auto& x : events_)
        if (x.what == what && (name.empty() || x.name == name)
            && ++seen == count) {
          found = x;
          return true;
        }
      return false;
    });
    INFO("waiting for event " << count << " of \"" << what << "\" " << name);
    REQUIRE(there);
    return found;
  }

  size_t count(const std::string& what) {
    std::lock_guard lock{mutex_};
    size_t seen = 0;
    for (auto& x : events_)
      seen += x.what == what;
    return seen;
  }

  std::vector<event> all() {
    std::lock_guard lock{mutex_};
    return events_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<event> events_;
};

/// The configuration of a system that knows our messages.
class test_config : public caf::actor_system_config {
public:
  test_config() {
    static const auto once
      = (port::init_messages<caf::id_block::alkstore>(), true);
    static_cast<void>(once);
    port::register_types<caf::id_block::alkstore, errc>(*this);
    port::prefer_sharing(*this);
  }
};

/// An actor system, a place for stores, and questions with their answers.
struct system_fixture {
  temp_dir dir;
  event_log events;
  test_config config;
  caf::actor_system sys{config};
  caf::scoped_actor self{sys};

  writer_options store_options() {
    writer_options out;
    out.path = dir.path("store.db");
    out.report = events.sink();
    return out;
  }

  /// The answer of a request; fails the test on an error.
  template <class Reply, class To, class Message>
  Reply ask(const To& to, Message message) {
    Reply out{};
    port::ask(self, patience, to, std::move(message))
      .receive([&](Reply& x) { out = std::move(x); },
               [&](const caf::error& why) {
                 FAIL("answered with " << sentence(sys, why));
               });
    return out;
  }

  /// The error of a request that has to fail.
  template <class Reply, class To, class Message>
  caf::error ask_error(const To& to, Message message) {
    caf::error out;
    port::ask(self, patience, to, std::move(message))
      .receive([&](const Reply&) { FAIL("answered without an error"); },
               [&](const caf::error& why) { out = why; });
    return out;
  }

  /// Waits until an actor has ended, and answers its exit reason.
  template <class Handle>
  caf::error wait_end(const Handle& whom) {
    caf::error reason;
    self->monitor(whom);
    self->receive([&](const caf::down_msg& x) { reason = x.reason; });
    return reason;
  }
};

} // namespace alkstore::test
