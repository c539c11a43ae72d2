// Running an actor elsewhere than in CAF's threads, on CAF 0.17.6 and 1.1. See
// caf_port.hpp.
#pragma once

#include "actors/caf_port.hpp"

namespace alkstore::port {

/// Takes an actor that has messages to handle, in the place of CAF's scheduler.
/// The actor has to pass it on in its enqueue().
class executor : public enqueue_context {
public:
  /// Runs in any thread. Whoever takes the actor has a reference to it.
  virtual void ready(caf::resumable* x) = 0;

#if PORT_CAF1
  explicit executor(caf::actor_system&) {}
  void schedule(caf::resumable* x) final { ready(x); }
  void delay(caf::resumable* x) final { ready(x); }
  void start() final {}
  void stop() final {}
#else
  explicit executor(caf::actor_system& sys) : caf::execution_unit(&sys) {}
  void exec_later(caf::resumable* x) final { ready(x); }
#endif
};

/// Starts an actor that `host` will run.
template <class Actor, class... Parts>
auto spawn_on(caf::actor_system& sys, executor& host, Parts&&... parts) {
  caf::actor_config cfg{&host};
  return sys.spawn_class<Actor, caf::no_spawn_options>(
    cfg, std::forward<Parts>(parts)...);
}

/// Lets an actor handle messages in the calling thread, so many at most. True
/// if there are more; else the reference to it is gone. `context`: of the CAF
/// actor in whose thread it is.
inline bool resume(caf::resumable* x, enqueue_context* context, size_t most) {
  if (x->resume(context, most) == caf::resumable::resume_later)
    return true;
  intrusive_ptr_release(x);
  return false;
}

} // namespace alkstore::port
