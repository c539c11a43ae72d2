#include "app/config_table.hpp"

#include "app/json/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace alkstore {

namespace {

using enum key_type;

constexpr config_key node_keys[] = {
  {.name = "database",
   .type = text,
   .fallback = "alkstore.db",
   .meaning = "path of the SQLite file, made if it is missing"},
  {.name = "synchronous",
   .type = text,
   .fallback = "full",
   .choices = "full normal",
   .meaning = "with normal a power cut can undo the last commits"},
  {.name = "busy-timeout",
   .type = duration,
   .fallback = "5s",
   .meaning = "longest wait for another process's write lock"},
  {.name = "max-payload",
   .type = bytes,
   .fallback = "1MiB",
   .least = "1",
   .most = "512MiB",
   .meaning = "largest payload that is taken"},
  {.name = "dedupe-for",
   .type = duration,
   .fallback = "24h",
   .meaning = "how long a dedupe key is remembered after the ack"},
  {.name = "retention",
   .type = duration,
   .fallback = "30d",
   .meaning = "age at which dead letters are deleted"},
  {.name = "wal-limit",
   .type = bytes,
   .fallback = "64MiB",
   .least = "1MiB",
   .most = "1024GiB",
   .meaning = "size above which the WAL file is truncated"},
  {.name = "lease-ttl",
   .type = duration,
   .fallback = "15s",
   .least = "1s",
   .most = "1d",
   .meaning = "how long a leader that went silent stays the leader"},
  {.name = "lease-renew",
   .type = duration,
   .meaning = "renewal interval, at most lease-ttl / 2 (default: / 3)"},
  {.name = "stop-grace",
   .type = duration,
   .fallback = "10s",
   .meaning = "how long a stop waits for deliveries in flight"},
  {.name = "allow-private-targets",
   .type = boolean,
   .fallback = "true",
   .meaning = "whether URLs may lead to private and loopback addresses"},
  {.name = "schedules", .type = entries, .meaning = "what fires when"},
  {.name = "queues", .type = entries, .meaning = "what this node works on"},
  {.name = "outboxes", .type = entries, .meaning = "what this node delivers"},
  {.name = "publish",
   .type = section,
   .meaning = "a port for other hosts; without it none is opened"},
};

constexpr config_key schedule_keys[] = {
  {.name = "name", .type = text, .required = true, .meaning = "unique"},
  {.name = "spec",
   .type = text,
   .required = true,
   .meaning = "`@every <n><unit>`, the unit one of s m h d"},
  {.name = "queue",
   .type = text,
   .required = true,
   .meaning = "where each boundary's job goes"},
  {.name = "payload", .type = text, .meaning = "of each job"},
  {.name = "priority",
   .type = integer,
   .fallback = "0",
   .least = "-32",
   .most = "31",
   .meaning = "higher goes first"},
  {.name = "expires-in",
   .type = duration,
   .meaning = "a job that was not claimed by then is dead"},
  {.name = "max-attempts",
   .type = integer,
   .fallback = "3",
   .least = "1",
   .most = "2147483647",
   .meaning = "claims until a job is dead"},
  {.name = "visibility-timeout",
   .type = duration,
   .fallback = "300s",
   .meaning = "how long a claim holds"},
  {.name = "backoff-base",
   .type = duration,
   .fallback = "5s",
   .meaning = "wait after the first failure, doubled with each one"},
};

constexpr config_key queue_keys[] = {
  {.name = "name", .type = text, .required = true, .meaning = "unique"},
  {.name = "command",
   .type = words,
   .meaning = "handler: a program and its arguments, without a shell"},
  {.name = "log",
   .type = boolean,
   .fallback = "false",
   .meaning = "handler: a line in the log"},
  {.name = "outbox",
   .type = text,
   .meaning = "handler: into the outbox of that name, with the ack"},
  {.name = "concurrency",
   .type = integer,
   .fallback = "8",
   .least = "1",
   .most = "1000",
   .meaning = "jobs at once"},
  {.name = "timeout",
   .type = duration,
   .fallback = "60s",
   .least = "1ms",
   .most = "295s",
   .meaning = "of a command; 5 s more fit the visibility timeout"},
};

constexpr config_key outbox_keys[] = {
  {.name = "name", .type = text, .required = true, .meaning = "unique"},
  {.name = "url",
   .type = text,
   .meaning = "handler: a POST to this http:// or https:// address"},
  {.name = "command",
   .type = words,
   .meaning = "handler: a program and its arguments, without a shell"},
  {.name = "log",
   .type = boolean,
   .fallback = "false",
   .meaning = "handler: a line in the log"},
  {.name = "concurrency",
   .type = integer,
   .fallback = "8",
   .least = "1",
   .most = "1000",
   .meaning = "deliveries at once"},
  {.name = "timeout",
   .type = duration,
   .fallback = "10s",
   .least = "1ms",
   .most = "55s",
   .meaning = "of a url or command; 5 s more fit the visibility timeout"},
  {.name = "content-type",
   .type = text,
   .fallback = "application/json",
   .meaning = "of a url's request"},
  {.name = "secret",
   .type = text,
   .meaning = "signs requests: `whsec_` and base64, or plain bytes"},
  {.name = "secret-file",
   .type = text,
   .meaning = "a file that holds the secret, in its place"},
  {.name = "headers",
   .type = headers,
   .meaning = "more headers for a url's request"},
};

constexpr config_key publish_keys[] = {
  {.name = "host",
   .type = text,
   .fallback = "127.0.0.1",
   .meaning = "the address to listen at; `0.0.0.0` for all of them"},
  {.name = "port",
   .type = integer,
   .least = "0",
   .most = "65535",
   .required = true,
   .meaning = "0 takes a free one, which the log names"},
  {.name = "certificate",
   .type = text,
   .meaning = "TLS: a PEM file with the node's certificate"},
  {.name = "key", .type = text, .meaning = "TLS: a PEM file with its key"},
  {.name = "authorities",
   .type = text,
   .meaning = "TLS: a PEM file; clients need one that these signed"},
};

constexpr config_section sections[] = {
  {"alkstore", "the node", node_keys},
  {"schedules", "each entry of schedules", schedule_keys},
  {"queues", "each entry of queues; exactly one handler", queue_keys},
  {"outboxes", "each entry of outboxes; exactly one handler", outbox_keys},
  {"publish", "the port, without TLS or with all three files", publish_keys},
};

// Case, `_` and `-` are what people mix up first: they cost nothing.
std::string folded(std::string_view name) {
  std::string out{name};
  for (char& c : out)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(c & 0x7f));
  return out;
}

const config_key* nearest(const config_section& section,
                          std::string_view name) {
  constexpr size_t longest_name = 40;
  auto wanted = folded(name.substr(0, longest_name));
  const config_key* found = nullptr;
  auto least = std::max<size_t>(1, wanted.size() / 3) + 1;
  for (auto& key : section.keys)
    if (auto d = edit_distance(wanted, key.name); d < least) {
      least = d;
      found = &key;
    }
  return found;
}

} // namespace

const config_key* config_section::find(std::string_view key) const {
  auto found = std::find_if(keys.begin(), keys.end(),
                            [&](const config_key& k) { return k.name == key; });
  return found == keys.end() ? nullptr : &*found;
}

std::span<const config_section> config_sections() {
  return sections;
}

const config_section& find_section(std::string_view name) {
  return *std::find_if(std::begin(sections), std::end(sections),
                       [&](const config_section& s) { return s.name == name; });
}

std::string suggestion(const config_section& section, std::string_view name) {
  std::string owners;
  for (auto& other : sections)
    if (other.find(name) != nullptr)
      owners.append(owners.empty() ? "" : " and ").append(other.name);
  if (!owners.empty())
    return "it is one of " + owners;
  if (auto key = nearest(section, name))
    return "the nearest one is " + std::string{key->name};
  for (auto& other : sections)
    if (auto key = nearest(other, name))
      return "the nearest one is " + std::string{key->name} + ", of "
             + std::string{other.name};
  return "";
}

std::string_view type_text(key_type type) {
  switch (type) {
    case text: return "a text in quotes";
    case boolean: return "true or false";
    case integer: return "an integer";
    case duration: return "a duration like 15s";
    case bytes: return "a size like 64KiB";
    case words: return "a list of texts";
    case key_type::headers: return "a map of texts";
    case entries: return "a list of { } maps";
    case key_type::section: return "a { } map";
  }
  return "";
}

} // namespace alkstore
