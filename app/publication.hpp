// The store's client interface on a port. docs/remote.md.
#pragma once

#include "actors/client_gateway.hpp"
#include "app/config.hpp"

namespace alkstore {

/// To be called before the first configuration is made.
void init_publishing();

/// Loads what the port needs into the configuration of a system to come.
void prepare_publishing(caf::actor_system_config& config,
                        const publish_config& options);

/// Offers the store to other hosts for as long as it lives. The system must
/// have been prepared for it.
class publication {
public:
  /// Errors: throws a failure (io_error) if the port cannot be had.
  publication(caf::actor_system& sys, const publish_config& options,
              runtime_actor runtime);
  publication(const publication&) = delete;
  publication& operator=(const publication&) = delete;

  /// Ends it: what is in flight is still answered by the store.
  ~publication();

  /// Where it is: "127.0.0.1:4711".
  const std::string& address() const noexcept { return address_; }

private:
  client_actor gateway_;
  std::string address_;
};

} // namespace alkstore
