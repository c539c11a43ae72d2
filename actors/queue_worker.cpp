#include "actors/queue_worker.hpp"

namespace alkstore {

namespace {

class queue_worker final : public consumer {
public:
  using consumer::consumer;

  const char* name() const override { return "queue_worker"; }
};

class queue_forwarder final : public consumer {
public:
  queue_forwarder(caf::actor_config& cfg, consumer_options options,
                  std::string outbox, writer_actor writer, reader_actor reader)
    : consumer(cfg, kind::queue, std::move(options), handler_actor{},
               std::move(writer), std::move(reader)),
      outbox_(std::move(outbox)) {}

  const char* name() const override { return "queue_forwarder"; }

protected:
  void begin(job x, millis) override {
    finish({x.claim,
            settlement::action::forward,
            {},
            {},
            outbox_,
            std::move(x.payload)});
  }

private:
  std::string outbox_;
};

} // namespace

consumer_actor spawn_queue_worker(caf::actor_system& sys,
                                  consumer_options options,
                                  const handler_factory& handler,
                                  writer_actor writer, reader_actor reader) {
  return sys.spawn<queue_worker>(consumer::kind::queue, std::move(options),
                                 handler(sys), std::move(writer),
                                 std::move(reader));
}

consumer_actor spawn_queue_forwarder(caf::actor_system& sys,
                                     consumer_options options,
                                     std::string outbox, writer_actor writer,
                                     reader_actor reader) {
  return sys.spawn<queue_forwarder>(std::move(options), std::move(outbox),
                                    std::move(writer), std::move(reader));
}

} // namespace alkstore
