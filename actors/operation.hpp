// One request to the writer, from its arrival to its answer.
#pragma once

#include "actors/admission.hpp"
#include "actors/errors.hpp"
#include "actors/store_operations.hpp"

#include <optional>

namespace alkstore {

/// What the writer gathers into a batch: run inside the batch's transaction,
/// answered once that is on disk.
class operation {
public:
  operation(place in_line, bool alone, steady_time since)
    : in_line_(std::move(in_line)), alone_(alone), since_(since) {}
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;
  virtual ~operation() = default;

  /// Does it. May throw; one that refuses does so before it changes anything.
  virtual void run(transaction& tx, effects& seen) = 0;

  /// Tells the sender the result of run().
  virtual void answer() = 0;

  /// Tells the sender why not.
  virtual void refuse(const caf::error& why) = 0;

  /// True if it shares its transaction with nothing.
  bool alone() const noexcept { return alone_; }

  /// When it arrived.
  steady_time since() const noexcept { return since_; }

protected:
  /// To be called before the answer: whoever has it finds room for the next.
  void leave_line() noexcept { in_line_.give_back(); }

private:
  place in_line_;
  bool alone_;
  steady_time since_;
};

/// The operation of a message: store_operations.hpp says what it does.
template <class Message>
class operation_of final : public operation {
public:
  using reply = decltype(run_in(std::declval<transaction&>(),
                                std::declval<const Message&>(),
                                std::declval<effects&>()));

  operation_of(Message message, caf::typed_response_promise<reply> promise,
               place in_line, bool alone, steady_time since)
    : operation(std::move(in_line), alone, since),
      message_(std::move(message)),
      promise_(std::move(promise)) {}

  void run(transaction& tx, effects& seen) override {
    reply_.emplace(run_in(tx, message_, seen));
  }

  void answer() override {
    leave_line();
    promise_.deliver(std::move(*reply_));
  }

  void refuse(const caf::error& why) override {
    leave_line();
    promise_.deliver(why);
  }

private:
  Message message_;
  caf::typed_response_promise<reply> promise_;
  std::optional<reply> reply_;
};

} // namespace alkstore
