#include "app/node.hpp"

#include "actors/errors.hpp"
#include "app/log.hpp"
#include "app/publication.hpp"
#include "app/setup.hpp"
#include "app/signals.hpp"
#include "app/watchdog.hpp"

#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace alkstore {

namespace {

// How much longer than its grace period a stop may take before it is ended.
constexpr millis hang_limit{10'000};

// Of a store that was running.
exit_status status_of(errc code) {
  switch (code) {
    case errc::corrupt:
    case errc::schema_too_new: return exit_data;
    case errc::busy: return exit_retry;
    case errc::disk_full:
    case errc::moved:
    case errc::io_error:
    case errc::read_only: return exit_io;
    default: return exit_software;
  }
}

// Of a start that was refused: an unusable path is the configuration's fault.
exit_status start_status_of(errc code) {
  switch (code) {
    case errc::io_error:
    case errc::read_only:
    case errc::invalid_name:
    case errc::reserved_name:
    case errc::invalid_spec:
    case errc::invalid_argument:
    case errc::payload_too_large: return exit_config;
    default: return status_of(code);
  }
}

void log(event::level severity, std::string what, std::string text) {
  event x;
  x.severity = severity;
  x.what = std::move(what);
  x.name = "node";
  x.text = std::move(text);
  log_to_stdout(x);
}

// Waits for the runtime's end; passes signals on to it.
caf::error supervise(const runtime_actor& runtime,
                     std::optional<publication>& clients,
                     signal_source& signals, watchdog& dog, millis grace) {
  auto ended = std::make_shared<std::promise<caf::error>>();
  auto reason = ended->get_future();
  port::when_ended(runtime, [ended, &signals](const caf::error& why) {
    ended->set_value(why);
    signals.wake();
  });
  auto stopping = false;
  while (reason.wait_for(millis{0}) != std::future_status::ready) {
    if (signals.wait() == signal_source::event::woken)
      continue;
    if (!std::exchange(stopping, true)) {
      log(event::level::info, "stopping",
          "what is in flight gets " + std::to_string(grace.count())
            + " ms to end; another signal cuts it");
      dog.expect("the end of the store's actors", grace + hang_limit);
      clients.reset();
      port::send_anonymously(runtime, stop{});
    } else {
      log(event::level::warning, "cutting",
          "what is in flight is left to its claims' deadlines");
      port::send_anonymously(runtime, stop_now{});
    }
  }
  return reason.get();
}

// Opens the port. False, and the runtime's end, if it cannot be had.
bool publish(caf::actor_system& sys, const publish_config& options,
             const runtime_actor& runtime,
             std::optional<publication>& clients) {
  try {
    clients.emplace(sys, options, runtime);
  } catch (const failure& x) {
    std::cerr << "alkstore-node: alkstore.publish: " << x.what() << '\n';
    port::send_anonymously(runtime, stop{});
    return false;
  }
  log(event::level::info, "published",
      clients->address()
        + (options.tls() ? ", with TLS for clients that have a certificate"
                         : ", without TLS: whoever reaches it is a client"));
  return true;
}

exit_status run_until_stopped(caf::actor_system& sys, const node_config& config,
                              runtime_options options, signal_source& signals,
                              watchdog& dog) {
  auto grace = options.stop_grace;
  caf::error why;
  try {
    auto runtime = start(sys, std::move(options));
    std::optional<publication> clients;
    auto open = !config.publish
                || publish(sys, *config.publish, runtime, clients);
    if (open)
      log(event::level::info, "started", "SIGTERM or Ctrl-C stops it");
    why = supervise(runtime, clients, signals, dog, grace);
    if (!open)
      return exit_config;
  } catch (const failure& x) {
    std::cerr << "alkstore-node: alkstore.database: " << x.what() << '\n';
    return start_status_of(x.code());
  }
  if (why) {
    log(event::level::error, "ended", sentence(sys, why));
    return status_of(code_of(why));
  }
  log(event::level::info, "stopped", "everything is on disk");
  return exit_ok;
}

} // namespace

exit_status run_node(const node_config& config,
                     const std::string& caf_options) {
  signal_source signals;
  port::init_messages<caf::id_block::alkstore>();
  init_publishing();
  caf::actor_system_config caf_config;
  port::register_types<caf::id_block::alkstore, errc>(caf_config);
  std::istringstream text{caf_options};
  if (auto why = port::read_options(caf_config, text)) {
    std::cerr << "alkstore-node: CAF's own options: "
              << port::text(caf_config, why) << '\n';
    return exit_config;
  }
  port::prefer_sharing(caf_config);
  if (config.publish)
    prepare_publishing(caf_config, *config.publish);
  watchdog dog; // outlives the system, whose end can hang
  caf::actor_system sys{caf_config};
  http_client http{config.allow_private_targets ? private_targets::allowed
                                                : private_targets::refused};
  command_runner commands;
  auto status = run_until_stopped(
    sys, config, runtime_setup(config, {http, commands, log_to_stdout}),
    signals, dog);
  dog.expect("the end of the actor system", hang_limit);
  sys.await_all_actors_done(); // the last use of http and commands
  return status;
}

} // namespace alkstore
