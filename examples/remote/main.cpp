// Puts each line of standard input as a job into a queue of a node on another
// host (or this one), and prints `<line> <job id>`. When the connection is lost
// it connects anew and asks again: the line's dedupe key makes that safe.
//
//   alkstore-example-remote --host=127.0.0.1 --port=4711 --queue=reports
//     --batch=2026-11-29 <names.txt

#include "alkstore/actors/caf_port_io.hpp"
#include "alkstore/actors/errors.hpp"

#include <iostream>
#include <string>
#include <thread>

namespace port = alkstore::port;
using namespace std::chrono_literals;

namespace {

constexpr auto answer_within = 5s;
constexpr auto pause = 200ms;

struct config : caf::actor_system_config {
  config() {
    port::register_types<caf::id_block::alkstore, alkstore::errc>(*this);
    opt_group{custom_options_, "global"}
      .add(host, "host", "where the node is")
      .add(number, "port", "the port that it publishes")
      .add(queue, "queue", "where the jobs go")
      .add(batch, "batch", "names this input: each line is taken once")
      .add(tries, "tries", "how often a line is tried, 200 ms apart")
      .add(tls.certificate, "certificate", "TLS: a PEM file")
      .add(tls.key, "key", "TLS: a PEM file")
      .add(tls.authorities, "authorities", "TLS: a PEM file");
  }

  std::string host = "127.0.0.1";
  uint16_t number = 0;
  std::string queue = "lines";
  std::string batch = "lines";
  uint32_t tries = 100;
  port::tls_files tls;
};

class remote_queue {
public:
  remote_queue(caf::actor_system& sys, const config& options)
    : sys_(sys), self_(sys), options_(options) {}

  // False if the node refused the line, or cannot be reached.
  bool put(int64_t number, const std::string& line) {
    alkstore::enqueue job{options_.queue, line, {}};
    job.options.dedupe_key = options_.batch + ":" + std::to_string(number);
    for (uint32_t i = 0; i < options_.tries; ++i) {
      if (!node_ && !connect())
        continue;
      caf::error error;
      port::ask(self_, caf::timespan{answer_within}, node_, job)
        .receive(
          [&](int64_t id) {
            std::cout << number << ' ' << id << '\n' << std::flush;
          },
          [&](const caf::error& why) { error = why; });
      if (!error)
        return true;
      std::cerr << "line " << number << ": " << alkstore::sentence(sys_, error)
                << '\n';
      if (alkstore::code_of(error) != alkstore::errc{})
        return false;  // the store's own answer
      node_ = nullptr; // the connection's: a time-out, or the node is gone
    }
    return false;
  }

private:
  bool connect() {
    auto found = port::connect<alkstore::client_actor>(
      sys_, options_.host, options_.number, !options_.tls.certificate.empty());
    if (found) {
      node_ = *found;
      return true;
    }
    std::cerr << options_.host << ':' << options_.number << ": "
              << port::text(sys_, found.error()) << '\n';
    std::this_thread::sleep_for(pause);
    return false;
  }

  caf::actor_system& sys_;
  caf::scoped_actor self_;
  const config& options_;
  alkstore::client_actor node_; ///< null while not connected
};

bool run(caf::actor_system& sys, const config& options) {
  remote_queue queue{sys, options};
  auto fine = true;
  int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);)
    fine &= queue.put(++number, line);
  return fine;
}

} // namespace

int main(int argc, char** argv) {
  port::init_messages<caf::id_block::alkstore>();
  port::init_network_messages();
  config options;
  if (auto why = options.parse(argc, argv)) {
    std::cerr << port::text(options, why) << '\n';
    return 64;
  }
  if (port::help_was_printed(options))
    return 0;
  port::prefer_sharing(options);
  port::load_network(options,
                     options.tls.certificate.empty() ? nullptr : &options.tls);
  caf::actor_system sys{options};
  return run(sys, options) ? 0 : 1;
}
