// For the tests of applications that embed alkstore: time that a test turns, a
// store that can be waited for, and deliveries that answer from a script. Link
// alkstore::testing. It works with any test framework: what does not come in
// time is thrown. examples/orders/orders_test.cpp is a test that uses it.
#pragma once

#include "actors/runtime.hpp"
#include "testing/event_log.hpp"
#include "testing/fake_delivery.hpp"
#include "testing/virtual_clock.hpp"

#include <optional>
#include <string>
#include <vector>

namespace alkstore::testing {

/// Drives one runtime. It must outlive the actor system: make it first.
///
///   test_driver driver;
///   caf::actor_system sys{config};
///   driver.prepare(options);                // what start() would be given
///   auto runtime = alkstore::start(sys, options);
///   driver.drive(sys, runtime);
///   driver.advance(1h);                     // boundaries fire, retries are
///   due driver.run_until_idle();
class test_driver {
public:
  /// A day ahead of the machine's, so that what an application enqueues on a
  /// connection of its own, by the system's clock, is due at once. Step it by
  /// advance(), which wakes the store, too.
  virtual_clock clock;
  event_log events;

  /// Puts clock and events into the options, and a lease of a year.
  void prepare(runtime_options& options);

  /// Takes the runtime that was started with them.
  void drive(caf::actor_system& sys, const runtime_actor& runtime);

  /// Moves the clock on and has the store look at it: what is due by then
  /// fires, is claimed, lapses. It does not wait for that.
  void advance(millis by);

  /// Waits until no boundary is due and no job of a queue or an outbox that
  /// this runtime works on is due or being handled. What waits for a later time
  /// counts as idle, since time stands still. Throws std::runtime_error if it
  /// does not come to rest.
  void run_until_idle();

  /// Waits until the job is neither due nor being handled. Nothing if it was
  /// acked or cancelled; else its row: a dead letter, or (job_state::waiting) a
  /// job whose time has not come. Throws std::runtime_error if it does not come
  /// to rest.
  std::optional<job> wait_for_job(int64_t id);

  /// The store's handles. Throws if the runtime does not answer.
  store_handles handles();

private:
  template <class Reply, class To, class Message>
  Reply ask(const To& to, Message message);

  template <class Look>
  void wait_until(Look look);

  std::string busy_with();

  std::string path_;
  open_options open_;
  std::vector<std::string> queues_; ///< that it works on, as stored
  caf::actor_system* sys_ = nullptr;
  caf::actor_addr runtime_; ///< no handle: it must not outlive the system
};

} // namespace alkstore::testing
