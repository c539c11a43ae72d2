// The handlers that the node brings along: HTTP, command, log.
#pragma once

#include "actors/consumer.hpp"
#include "app/command_runner.hpp"
#include "app/config.hpp"
#include "app/http_client.hpp"

namespace alkstore {

/// What the deliveries run on. Outlives the actors that use it.
struct delivery_tools {
  http_client& http;
  command_runner& commands;
  event_sink report;
};

/// POSTs the payload; signed and judged as webhook.hpp says.
handler_factory http_delivery(const http_config& config, delivery_tools tools);

/// Runs a program with the payload on its standard input. Its environment has
/// ALKSTORE_JOB_ID, ALKSTORE_STABLE_ID, ALKSTORE_QUEUE, ALKSTORE_ATTEMPT,
/// ALKSTORE_MAX_ATTEMPTS and, for a fired job, ALKSTORE_SCHEDULE and
/// ALKSTORE_FIRE_AT (ms). Exit status 0 is delivered.
handler_factory command_delivery(const command_config& config,
                                 delivery_tools tools);

/// Reports an event with the payload's size.
handler_factory log_delivery(delivery_tools tools);

} // namespace alkstore
