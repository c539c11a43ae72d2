// Actors that keep a store busy.
#pragma once

#include "bench/live_store.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace alkstore::bench {

/// How requests are offered: `callers` actors, each with so many in flight, and
/// `total` requests in all. Requires that total is a multiple of callers.
struct load {
  int callers = 1;
  int in_flight = 1;
  int total = 0;
};

/// What one caller sends and still has to send.
template <class Message>
struct caller {
  store_actor store;
  std::function<Message()> make;
  int left;
  countdown& answered;
};

template <class Reply, class Message>
void send_next(caf::event_based_actor* self,
               const std::shared_ptr<caller<Message>>& x) {
  if (x->left-- <= 0)
    return;
  port::ask(self, caf::infinite, x->store, x->make())
    .then(
      [self, x](const Reply&) {
        x->answered.one();
        send_next<Reply>(self, x);
      },
      [self](const caf::error& why) {
        std::fprintf(stderr, "refused: %s\n",
                     sentence(self->system(), why).c_str());
        std::exit(EXIT_FAILURE);
      });
}

/// Starts the callers; `answered` counts their answers.
template <class Reply, class Message>
void offer(caf::actor_system& sys, const store_actor& store, const load& x,
           std::function<Message()> make, countdown& answered) {
  for (int i = 0; i < x.callers; ++i) {
    auto state = std::make_shared<caller<Message>>(
      caller<Message>{store, make, x.total / x.callers, answered});
    sys.spawn([state, x](caf::event_based_actor* self) {
      for (int k = 0; k < x.in_flight; ++k)
        send_next<Reply>(self, state);
    });
  }
}

} // namespace alkstore::bench
