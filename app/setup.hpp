// From the configuration to what the runtime is started with.
#pragma once

#include "actors/runtime.hpp"
#include "app/deliveries.hpp"

namespace alkstore {

/// The runtime's options for a checked configuration.
runtime_options runtime_setup(const node_config& config, delivery_tools tools);

} // namespace alkstore
