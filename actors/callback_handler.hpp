// A handler whose work is done elsewhere: in a thread, an event loop, a
// library.
#pragma once

#include "actors/actors.hpp"

#include <functional>

namespace alkstore {

/// Starts one delivery and returns at once. It calls `conclude` exactly once,
/// from any thread, unless the process ends first.
using async_delivery =
  std::function<void(delivery what, std::function<void(verdict)> conclude)>;

/// A handler that passes each delivery to `deliver` and answers with what it
/// concludes.
handler_actor spawn_callback_handler(caf::actor_system& sys,
                                     async_delivery deliver);

} // namespace alkstore
