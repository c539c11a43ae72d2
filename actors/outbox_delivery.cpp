#include "actors/outbox_delivery.hpp"

namespace alkstore {

namespace {

class outbox_delivery final : public consumer {
public:
  using consumer::consumer;

  const char* name() const override { return "outbox_delivery"; }
};

} // namespace

consumer_actor spawn_outbox_delivery(caf::actor_system& sys,
                                     consumer_options options,
                                     const handler_factory& handler,
                                     writer_actor writer, reader_actor reader) {
  return sys.spawn<outbox_delivery>(consumer::kind::outbox, std::move(options),
                                    handler(sys), std::move(writer),
                                    std::move(reader));
}

} // namespace alkstore
