// The bound on what waits for the writer, enforced in the senders' threads.
#pragma once

#include "actors/actors.hpp"

#include <atomic>
#include <type_traits>
#include <utility>

namespace alkstore {

/// Operations and bytes that were admitted and are not yet answered. An actor
/// that blocks in SQLite cannot answer a flood, so its senders must be stopped
/// before its mailbox (measured without: 1 GiB for 200,000 at full speed).
class admission {
public:
  struct bounds {
    int64_t operations = 16'384;
    int64_t bytes = 32 * 1024 * 1024;
  };

  /// What a message weighs; no operations for one that is always taken.
  struct weight {
    int64_t operations = 0;
    int64_t bytes = 0;
  };

  explicit admission(bounds limit) : limit_(limit) {}

  /// The weight of callers' work. Acks, renewals, ticks and the writer's own
  /// messages weigh nothing: credit, claims and one tick at a time bound them.
  static weight of(const caf::mailbox_element& x);

  /// The same for a message that is known.
  template <class T>
  static weight of_message(const T& x);

  /// False if the bound is reached. What overshoots it alone is let in.
  bool enter(weight x) noexcept;

  void leave(weight x) noexcept;

private:
  bounds limit_;
  std::atomic<int64_t> operations_{0};
  std::atomic<int64_t> bytes_{0};
};

/// An admitted message's place, given back when its operation is answered.
class place {
public:
  place(admission& gate, admission::weight x) : gate_(&gate), weight_(x) {}
  place(place&& other) noexcept
    : gate_(std::exchange(other.gate_, nullptr)), weight_(other.weight_) {}
  place& operator=(place&& other) noexcept {
    std::swap(gate_, other.gate_);
    std::swap(weight_, other.weight_);
    return *this;
  }
  ~place() { give_back(); }

  void give_back() noexcept {
    if (auto gate = std::exchange(gate_, nullptr))
      gate->leave(weight_);
  }

private:
  admission* gate_;
  admission::weight weight_;
};

// -- the weights --------------------------------------------------------------

template <class... Ts>
struct message_list {};

/// What is refused as `overloaded` beyond the bound.
using callers_work =
  message_list<enqueue, outbox_enqueue, enqueue_many, claim_jobs, cancel_job,
               requeue_dead, delete_dead, add_schedule, remove_schedule,
               pause_schedule, resume_schedule, acquire_lock, renew_lock,
               release_lock, transact_request>;

template <class T, class... Ts>
constexpr bool contains(message_list<Ts...>) {
  return (std::is_same_v<T, Ts> || ...);
}

template <class T>
admission::weight admission::of_message(const T& x) {
  constexpr int64_t overhead = 512; // in the mailbox and the batch, roughly
  if constexpr (std::is_same_v<T, enqueue_many>) {
    weight sum{1, overhead}; // of the message itself
    for (auto& one : x.jobs) {
      sum.operations += 1;
      sum.bytes += of_message(one).bytes;
    }
    return sum;
  } else if constexpr (requires { x.payload; }) {
    return {1, overhead + static_cast<int64_t>(x.payload.size())};
  } else if constexpr (contains<T>(callers_work{})) {
    return {1, overhead};
  } else {
    return {};
  }
}

} // namespace alkstore
