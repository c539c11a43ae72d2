// Reads what an outbox of the configuration says about its HTTP delivery.
#pragma once

#include "app/config.hpp"
#include "app/config_section_reader.hpp"
#include "app/target.hpp"

namespace alkstore {

/// Reads and checks the keys of an HTTP delivery, as far as the entry has them.
/// No finding repeats a URL, a secret or a header's value.
http_config read_http(section_reader& outbox, private_targets policy);

} // namespace alkstore
