#include "app/publication.hpp"

#include "actors/caf_port_io.hpp"

namespace alkstore {

void init_publishing() {
  port::init_network_messages();
}

void prepare_publishing(caf::actor_system_config& config,
                        const publish_config& options) {
  port::tls_files files{options.certificate, options.key, options.authorities};
  port::load_network(config, options.tls() ? &files : nullptr);
}

publication::publication(caf::actor_system& sys, const publish_config& options,
                         runtime_actor runtime)
  : gateway_(spawn_client_gateway(sys, std::move(runtime))) {
  auto wanted = static_cast<uint16_t>(options.port);
  auto got = port::publish(sys, gateway_, wanted, options.host, options.tls());
  if (!got) {
    caf::anon_send_exit(gateway_, caf::exit_reason::kill);
    throw failure{errc::io_error, options.host + ":" + std::to_string(wanted)
                                    + ": " + port::text(sys, got.error())};
  }
  address_ = options.host + ":" + std::to_string(*got);
}

// CAF closes the port of a published actor that has ended.
publication::~publication() {
  caf::anon_send_exit(gateway_, caf::exit_reason::user_shutdown);
}

} // namespace alkstore
