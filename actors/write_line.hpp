// What waits for the writer, and how a batch of it becomes one transaction.
#pragma once

#include "actors/enqueue_group.hpp"

#include <deque>
#include <memory>

namespace alkstore {

/// The operations in line, oldest first. Not an actor; the writer's alone.
class write_line {
public:
  using batch = std::vector<std::unique_ptr<operation>>;

  void push_back(std::unique_ptr<operation> x) {
    waiting_.push_back(std::move(x));
  }
  void push_front(std::unique_ptr<operation> x) {
    waiting_.push_front(std::move(x));
  }

  /// The group at the end of the line, which the next enqueue joins; a new one
  /// if there is none, or it is full.
  enqueue_group& last_group(steady_time now);

  bool empty() const noexcept { return waiting_.empty(); }

  /// Runs the next batch inside `tx`: one operation that wants to be alone, or
  /// as many others as the bounds allow. One that refuses is answered and left
  /// out; the others move to `ran`, to be answered after the COMMIT. Throws
  /// what made the transaction unfit to be committed.
  void run_batch(transaction& tx, effects& seen, batch& ran);

  /// Refuses those that arrived before `then`.
  void refuse_older(steady_time then, const caf::error& why);

  void refuse_all(const caf::error& why);

  /// How many requests the operations hold.
  static size_t size_of(const batch& x);

private:
  std::deque<std::unique_ptr<operation>> waiting_;
};

} // namespace alkstore
