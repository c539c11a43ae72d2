// What the node runs with: the `alkstore { … }` block of its configuration
// file, checked. config_table.hpp describes each key.
#pragma once

#include "substrate/job.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace alkstore {

/// One line in the log per job.
struct log_config {};

/// A program of its own per job, the payload on its standard input.
struct command_config {
  std::vector<std::string> argv; ///< not empty; no shell reads it
  millis timeout{};
};

/// A POST of the payload.
struct http_config {
  std::string url;  ///< http or https; may hold a password or a token
  millis timeout{}; ///< over the whole exchange
  std::optional<std::string> key; ///< the bytes to sign with, if at all
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers; ///< checked
};

/// A queue whose payloads go into an outbox, in the ack's own transaction.
struct forward_config {
  std::string outbox; ///< one of node_config::outboxes
};

struct schedule_config {
  std::string name;
  std::string spec; ///< parse_spec takes it
  std::string queue;
  std::string payload;
  job_options options; ///< of these the five that a schedule has
};

struct queue_config {
  std::string name;
  std::variant<log_config, command_config, forward_config> handler;
  int concurrency = 8;
};

struct outbox_config {
  std::string name;
  std::variant<log_config, command_config, http_config> handler;
  int concurrency = 8;
};

/// The port for programs of other hosts.
struct publish_config {
  std::string host;
  int port = 0; ///< 0: a free one
  /// PEM files: all three, or all empty, which means without TLS.
  std::string certificate, key, authorities;

  bool tls() const { return !certificate.empty(); }
};

/// A default-constructed one is what an empty file gives.
struct node_config {
  std::string database = "alkstore.db";
  bool synchronous_full = true; ///< false: SQLite's NORMAL
  millis busy_timeout = std::chrono::seconds{5};
  int64_t max_payload = 1024 * 1024; ///< bytes, inclusive
  millis dedupe_for = std::chrono::hours{24};
  millis retention = std::chrono::hours{30 * 24};
  int64_t wal_limit = 64 * 1024 * 1024; ///< bytes
  millis lease_ttl = std::chrono::seconds{15};
  millis lease_renew = std::chrono::seconds{5};
  millis stop_grace = std::chrono::seconds{10};
  bool allow_private_targets = true;
  std::vector<schedule_config> schedules; ///< names are unique in each list
  std::vector<queue_config> queues;
  std::vector<outbox_config> outboxes;
  std::optional<publish_config> publish; ///< nothing: no port is opened
};

} // namespace alkstore
