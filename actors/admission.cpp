#include "actors/admission.hpp"

namespace alkstore {

namespace {

template <class... Ts>
admission::weight weigh(const caf::mailbox_element& x, message_list<Ts...>) {
  admission::weight out;
  auto is = [&]<class T>(const T* message) {
    if (message)
      out = admission::of_message(*message);
    return message != nullptr;
  };
  (is(port::peek<Ts>(x)) || ...);
  return out;
}

} // namespace

admission::weight admission::of(const caf::mailbox_element& x) {
  return weigh(x, callers_work{});
}

bool admission::enter(weight x) noexcept {
  if (operations_.load(std::memory_order_relaxed) >= limit_.operations
      || bytes_.load(std::memory_order_relaxed) >= limit_.bytes)
    return false;
  operations_.fetch_add(x.operations, std::memory_order_relaxed);
  bytes_.fetch_add(x.bytes, std::memory_order_relaxed);
  return true;
}

void admission::leave(weight x) noexcept {
  operations_.fetch_sub(x.operations, std::memory_order_relaxed);
  bytes_.fetch_sub(x.bytes, std::memory_order_relaxed);
}

} // namespace alkstore
