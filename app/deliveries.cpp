#include "app/deliveries.hpp"

#include "actors/callback_handler.hpp"
#include "app/webhook.hpp"
#include "substrate/claims.hpp"

#include <algorithm>

namespace alkstore {

namespace {

using conclusion = std::function<void(verdict)>;

handler_factory factory_for(async_delivery deliver) {
  return [deliver = std::move(deliver)](caf::actor_system& sys) {
    return spawn_callback_handler(sys, deliver);
  };
}

verdict to_verdict(const webhook_verdict& x) {
  switch (x.job) {
    case webhook_verdict::fate::delivered: return verdict::delivered();
    case webhook_verdict::fate::dead: return verdict::dead(x.error);
    case webhook_verdict::fate::retry: break;
  }
  return verdict::failed(x.error, x.delay);
}

std::vector<std::pair<std::string, std::string>> environment_of(const job& x) {
  std::vector<std::pair<std::string, std::string>> out{
    {"ALKSTORE_JOB_ID", std::to_string(x.id)},
    {"ALKSTORE_STABLE_ID", x.stable_id},
    {"ALKSTORE_QUEUE", x.queue},
    {"ALKSTORE_ATTEMPT", std::to_string(x.attempts)},
    {"ALKSTORE_MAX_ATTEMPTS", std::to_string(x.max_attempts)},
  };
  if (x.fire_at) {
    out.emplace_back("ALKSTORE_SCHEDULE", x.schedule);
    out.emplace_back("ALKSTORE_FIRE_AT",
                     std::to_string(x.fire_at->time_since_epoch().count()));
  }
  return out;
}

} // namespace

handler_factory http_delivery(const http_config& config, delivery_tools tools) {
  return factory_for([config, tools](delivery x, conclusion conclude) {
    http_request request;
    request.url = config.url;
    request.headers = config.headers;
    request.headers.emplace_back("content-type", config.content_type);
    for (auto& header :
         webhook_headers(x.what.stable_id, clock::system().wall_now(),
                         x.what.payload, config.key))
      request.headers.push_back(std::move(header));
    request.body = std::move(x.what.payload);
    request.timeout = std::min(config.timeout, x.time_limit);
    auto backoff = claims::retry_delay(x.what.backoff_base, x.what.attempts);
    tools.http.post(
      std::move(request),
      [backoff, conclude = std::move(conclude)](const http_outcome& outcome) {
        conclude(to_verdict(judge(outcome, backoff)));
      });
  });
}

handler_factory command_delivery(const command_config& config,
                                 delivery_tools tools) {
  return factory_for([config, tools](delivery x, conclusion conclude) {
    command_request request;
    request.argv = config.argv;
    request.environment = environment_of(x.what);
    request.input = std::move(x.what.payload);
    request.timeout = std::min(config.timeout, x.time_limit);
    tools.commands.run(std::move(request), [conclude = std::move(conclude)](
                                             const command_outcome& outcome) {
      conclude(outcome.error.empty() ? verdict::delivered()
                                     : verdict::failed(outcome.error));
    });
  });
}

handler_factory log_delivery(delivery_tools tools) {
  return factory_for([tools](const delivery& x, const conclusion& conclude) {
    event line;
    line.what = "delivery";
    line.name = x.what.queue;
    line.text = "id " + x.what.stable_id + ", "
                + std::to_string(x.what.payload.size()) + " bytes";
    tools.report(line);
    conclude(verdict::delivered());
  });
}

} // namespace alkstore
