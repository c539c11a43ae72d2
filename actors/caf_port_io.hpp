// CAF's network, for the programs that publish a store or talk to a published
// one: links CAF::io and CAF::openssl. Like caf_port.hpp, and only these two,
// it knows which CAF this is.
#pragma once

#include "actors/caf_port.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>

#include <cstdint>
#include <string>

namespace alkstore::port {

/// PEM files: one's own certificate with its key, and the authorities whose
/// certificates are taken. Each side has to show one to the other.
struct tls_files {
  std::string certificate;
  std::string key;
  std::string authorities;
};

/// To be called once beside init_messages().
inline void init_network_messages() {
#if PORT_CAF1
  caf::io::middleman::init_global_meta_objects();
#endif
}

/// Loads CAF's network into a system's configuration. `tls` may be null.
inline void load_network(caf::actor_system_config& cfg, const tls_files* tls) {
  cfg.load<caf::io::middleman>();
  if (!tls)
    return;
  cfg.load<caf::openssl::manager>();
#if PORT_CAF1
  cfg.set("caf.openssl.certificate", tls->certificate);
  cfg.set("caf.openssl.key", tls->key);
  cfg.set("caf.openssl.cafile", tls->authorities);
#else
  cfg.openssl_certificate = tls->certificate;
  cfg.openssl_key = tls->key;
  cfg.openssl_cafile = tls->authorities;
#endif
}

/// Offers an actor at host:number, where `number` 0 takes a free one. The
/// answer is the number, or an error.
template <class Handle>
caf::expected<uint16_t> publish(caf::actor_system& sys, const Handle& whom,
                                uint16_t number, const std::string& host,
                                bool tls) {
  constexpr bool reuse = true; // a port that a process before has just left
  if (tls)
    return caf::openssl::publish(whom, number, host.c_str(), reuse);
  return sys.middleman().publish(whom, number, host.c_str(), reuse);
}

/// The actor that is published at host:number, or an error. Blocks.
template <class Handle>
caf::expected<Handle> connect(caf::actor_system& sys, const std::string& host,
                              uint16_t number, bool tls) {
  if (tls)
    return caf::openssl::remote_actor<Handle>(sys, host, number);
  return sys.middleman().remote_actor<Handle>(host, number);
}

} // namespace alkstore::port
