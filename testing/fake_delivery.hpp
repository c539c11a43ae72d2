// Handlers whose answers a test writes beforehand, or gives by hand.
#pragma once

#include "actors/consumer.hpp"

#include <functional>
#include <memory>

namespace alkstore::testing {

/// A delivery as its handler got it.
struct taken {
  job what;
  millis time_limit{};
  /// Ends one that is held: to be called once, from any thread.
  std::function<void(verdict)> conclude = [](const verdict&) {};
};

/// Stands in for an HTTP receiver, a command or an actor: put a factory of its
/// into outbox_setup or queue_setup. Its handlers may outlive it.
class fake_delivery {
public:
  fake_delivery();

  /// Handlers that answer from the script, and `delivered` once it is used up.
  handler_factory handler();

  /// Handlers that always answer the same.
  handler_factory handler(verdict always);

  /// Handlers that leave every verdict to the test: conclude(), in next().
  handler_factory held();

  /// Writes the script on: the answer of one more delivery.
  fake_delivery& then(verdict answer);

  /// The oldest delivery that was not asked for yet. Throws
  /// std::runtime_error when none comes.
  taken next();

  /// True if none comes within that time.
  bool stays_empty(millis within);

  /// How many there were so far.
  int started();

  /// Waits until there were so many. Throws when they do not come.
  void wait_started(int count);

private:
  struct shared;
  using answer_function = std::function<void(shared&, taken&)>;

  handler_factory make(answer_function answer);

  std::shared_ptr<shared> state_;
};

} // namespace alkstore::testing
