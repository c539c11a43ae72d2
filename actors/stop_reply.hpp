// Who waits for an actor's orderly end.
#pragma once

#include "actors/errors.hpp"

#include <vector>

namespace alkstore {

/// The answers to an actor's stop messages. A promise keeps its actor alive, so
/// they are let go of in on_exit(); a stop may come without a sender, so
/// whether one came does not depend on them.
class stop_reply {
public:
  /// A stop came: its answer is due later.
  template <class Self>
  caf::result<completed> promise(Self* self) {
    came_ = true;
    waiting_.push_back(self->template make_response_promise<completed>());
    return waiting_.back();
  }

  /// True once a stop came.
  explicit operator bool() const noexcept { return came_; }

  /// The orderly end is reached.
  void deliver() {
    for (auto& x : waiting_)
      x.deliver(completed{});
    waiting_.clear();
  }

  /// To be called in on_exit(): there was no orderly end.
  void abandon(const char* who) {
    for (auto& x : waiting_)
      x.deliver(
        make_error(errc::shutting_down, std::string{who} + " has ended"));
    waiting_.clear();
  }

private:
  bool came_ = false;
  std::vector<caf::typed_response_promise<completed>> waiting_;
};

} // namespace alkstore
