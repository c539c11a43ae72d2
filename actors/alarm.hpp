// A timer of an actor that can be set anew and called off.
#pragma once

#include "actors/caf_port.hpp"

#include <algorithm>
#include <cstdint>

namespace alkstore {

/// Sends its actor a Message{generation} after a while. A delayed message
/// cannot be called back in CAF 0.17, so each carries the generation it was set
/// for and due() drops the old ones.
template <class Message>
class alarm {
public:
  /// Sets it, in the place of an earlier setting.
  template <class Self, class Duration>
  void set(Self* self, Duration after) {
    set_ = true;
    delayed_.send(self, std::max(caf::timespan{after}, caf::timespan{0}),
                  Message{++generation_});
  }

  /// The same without a delay: behind what is in the mailbox by now.
  template <class Self>
  void set_now(Self* self) {
    set_ = true;
    port::send(self, self, Message{++generation_});
  }

  void cancel() {
    set_ = false;
    ++generation_;
  }

  bool is_set() const noexcept { return set_; }

  /// True if `x` is the current setting, which is used up by this.
  bool due(const Message& x) {
    if (!set_ || x.generation != generation_)
      return false;
    set_ = false;
    return true;
  }

private:
  port::delayer delayed_;
  int64_t generation_ = 0;
  bool set_ = false;
};

} // namespace alkstore
