// Where a delivery may go.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace alkstore {

/// Whether deliveries may go to addresses that are not on the public internet.
enum class private_targets : uint8_t { allowed, refused };

/// Whether an address is anything but public unicast: loopback, private,
/// link-local, carrier-grade NAT, multicast, unspecified, documentation, unique
/// local and the rest of the IANA special-purpose registries (RFC 6890). An
/// IPv4 address inside IPv6 (mapped, or NAT64 `64:ff9b::/96`) is judged as that
/// IPv4 address; any other family is private.
bool is_private(const sockaddr& address);

/// Why `url` cannot be a target, or an empty text if it can: it has to be a
/// valid http or https URL, and with `refused` its host must be neither
/// `localhost` nor a private address in any spelling (`2130706433`, `0x7f.1`).
/// Other names are not resolved here; http_client checks the address that it
/// connects to. The text shows the host at most.
std::string refuse_target(const std::string& url, private_targets policy);

/// `host` or `host:port` of a URL, the only part of it that may be shown; empty
/// if it is not valid.
std::string target_name(const std::string& url);

} // namespace alkstore
