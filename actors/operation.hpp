// One request to the writer, from its arrival to its answer.
#pragma once

#include "actors/admission.hpp"
#include "actors/errors.hpp"
#include "actors/store_operations.hpp"

#include <optional>

namespace alkstore {

/// Who waits for an answer, and the place that this takes in line.
template <class Reply>
class asker {
public:
  asker(caf::typed_response_promise<Reply> promise, place in_line)
    : promise_(std::move(promise)), in_line_(std::move(in_line)) {}

  /// The place is given back before the answer: whoever has that finds room
  /// for the next.
  template <class ReplyOrError>
  void tell(ReplyOrError&& x) {
    in_line_.give_back();
    promise_.deliver(std::forward<ReplyOrError>(x));
  }

private:
  caf::typed_response_promise<Reply> promise_;
  place in_line_;
};

/// What the writer gathers into a batch: run inside the batch's transaction,
/// answered once that is on disk.
class operation {
public:
  operation(bool alone, steady_time since) : alone_(alone), since_(since) {}
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;
  virtual ~operation() = default;

  /// Does it. May throw; one that refuses does so before it changes anything.
  virtual void run(transaction& tx, effects& seen) = 0;

  /// Tells the sender the result of run().
  virtual void answer() = 0;

  /// Tells the sender why not.
  virtual void refuse(const caf::error& why) = 0;

  /// How many requests it holds.
  virtual size_t size() const noexcept { return 1; }

  /// True if it shares its transaction with nothing.
  bool alone() const noexcept { return alone_; }

  /// When it arrived.
  steady_time since() const noexcept { return since_; }

private:
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

  operation_of(Message message, asker<reply> sender, bool alone,
               steady_time since)
    : operation(alone, since),
      message_(std::move(message)),
      sender_(std::move(sender)) {}

  void run(transaction& tx, effects& seen) override {
    reply_.emplace(run_in(tx, message_, seen));
  }

  void answer() override { sender_.tell(std::move(*reply_)); }

  void refuse(const caf::error& why) override { sender_.tell(why); }

private:
  Message message_;
  asker<reply> sender_;
  std::optional<reply> reply_;
};

} // namespace alkstore
