#include "app/config_reader.hpp"

#include "app/config_file.hpp"
#include "app/config_http.hpp"
#include "app/config_section_reader.hpp"
#include "app/config_syntax.hpp"
#include "substrate/clock.hpp"
#include "substrate/names.hpp"
#include "substrate/spec.hpp"

#include <initializer_list>
#include <set>

namespace alkstore {

namespace {

using keys = std::initializer_list<std::string_view>;

constexpr size_t largest_file = 4 * 1024 * 1024;

void check_unique(section_reader& entry, const std::string& name,
                  std::map<std::string, size_t>& taken) {
  entry.check("name", [&] {
    auto [at, fresh] = taken.emplace(name, entry.line("name"));
    if (!fresh)
      refuse_value("is taken: the entry in line " + std::to_string(at->second)
                   + " has the same name");
  });
}

// Which of the keys that name a handler the entry has; empty unless it is
// exactly one. `log = false` is none.
std::string_view handler_of(section_reader& entry, keys kinds) {
  std::vector<std::string_view> given;
  std::string known;
  for (auto kind : kinds) {
    bool wanted = entry.has(kind);
    if (wanted && kind == "log")
      entry.get(kind, wanted);
    if (wanted)
      given.push_back(kind);
    known.append(known.empty() ? "" : ", ").append(kind);
  }
  if (given.size() == 1)
    return given.front();
  entry.refuse("", "needs exactly one handler of " + known + "; it has "
                     + std::to_string(given.size()));
  return {};
}

void refuse_others(section_reader& entry, std::string_view handler,
                   keys concerned, const char* whose) {
  for (auto key : concerned)
    if (!handler.empty() && entry.has(key))
      entry.refuse(key,
                   std::string{"is of no use here: it belongs to a "} + whose);
}

command_config read_command(section_reader& entry) {
  command_config out;
  entry.get("command", out.argv);
  entry.get("timeout", out.timeout);
  entry.check("command", [&] {
    if (out.argv.empty() || out.argv[0].empty())
      refuse_value("must begin with the program's name");
  });
  return out;
}

// -- the three lists ----------------------------------------------------------

// All keys of an entry are read, also those of a handler that it does not have:
// what is wrong with them is told in the same run.

outbox_config read_outbox(section_reader& entry, private_targets policy) {
  outbox_config out;
  entry.get("name", out.name);
  entry.get("concurrency", out.concurrency);
  entry.check("name", [&] { check_name("outbox", out.name); });
  auto http = read_http(entry, policy);
  auto command = read_command(entry);
  auto handler = handler_of(entry, {"url", "command", "log"});
  if (handler == "url")
    out.handler = std::move(http);
  else
    refuse_others(entry, handler,
                  {"content-type", "secret", "secret-file", "headers"}, "url");
  if (handler == "command")
    out.handler = std::move(command);
  if (handler == "log")
    refuse_others(entry, handler, {"timeout"}, "url or command");
  return out;
}

queue_config read_queue(section_reader& entry,
                        const std::set<std::string>& outboxes) {
  queue_config out;
  forward_config forward;
  entry.get("name", out.name);
  entry.get("concurrency", out.concurrency);
  entry.get("outbox", forward.outbox);
  entry.check("name", [&] { check_name("queue", out.name); });
  entry.check("outbox", [&] {
    check_name("outbox", forward.outbox);
    if (!outboxes.contains(forward.outbox))
      refuse_value("there is no outbox " + forward.outbox + " in outboxes");
  });
  auto command = read_command(entry);
  auto handler = handler_of(entry, {"command", "log", "outbox"});
  if (handler == "command")
    out.handler = std::move(command);
  else
    refuse_others(entry, handler, {"timeout"}, "command");
  if (handler == "outbox")
    out.handler = std::move(forward);
  return out;
}

schedule_config read_schedule(section_reader& entry, int64_t max_payload) {
  schedule_config out;
  entry.get("name", out.name);
  entry.get("spec", out.spec);
  entry.get("queue", out.queue);
  entry.get("payload", out.payload);
  entry.get("priority", out.options.priority);
  entry.get("expires-in", out.options.expires_in);
  entry.get("max-attempts", out.options.max_attempts);
  entry.get("visibility-timeout", out.options.visibility_timeout);
  entry.get("backoff-base", out.options.backoff_base);
  entry.check("name", [&] { check_name("schedule", out.name); });
  entry.check("spec", [&] {
    auto now = clock::system().wall_now();
    first_after(now, parse_spec(out.spec), now);
  });
  entry.check("queue", [&] { check_name("queue", out.queue); });
  entry.check("payload", [&] {
    if (static_cast<int64_t>(out.payload.size()) > max_payload)
      refuse_value("is larger than max-payload");
  });
  return out;
}

publish_config read_publish(section_reader& entry) {
  publish_config out;
  entry.get("host", out.host);
  entry.get("port", out.port);
  int given = 0;
  auto get_file = [&](const char* key, std::string& file) {
    entry.get(key, file);
    given += entry.has(key) ? 1 : 0;
    entry.check(key, [&] {
      file = expand_home(file);
      read_file(file, largest_file);
    });
  };
  get_file("certificate", out.certificate);
  get_file("key", out.key);
  get_file("authorities", out.authorities);
  entry.check("host", [&] {
    if (out.host.empty())
      refuse_value("is empty");
  });
  if (given != 0 && given != 3)
    entry.refuse("", "TLS needs certificate, key and authorities");
  return out;
}

template <class Entry, class Read>
void read_list(section_reader& node, std::string_view key,
               std::vector<Entry>& out, Read read) {
  std::map<std::string, size_t> taken;
  for (auto& entry : node.entries(key)) {
    out.push_back(read(entry));
    check_unique(entry, out.back().name, taken);
  }
}

void read_node(section_reader& node, node_config& out) {
  std::string synchronous;
  node.get("database", out.database);
  node.get("synchronous", synchronous);
  node.get("busy-timeout", out.busy_timeout);
  node.get("max-payload", out.max_payload);
  node.get("dedupe-for", out.dedupe_for);
  node.get("retention", out.retention);
  node.get("wal-limit", out.wal_limit);
  node.get("lease-ttl", out.lease_ttl);
  out.lease_renew = out.lease_ttl / 3;
  node.get("lease-renew", out.lease_renew);
  node.get("stop-grace", out.stop_grace);
  node.get("allow-private-targets", out.allow_private_targets);
  out.synchronous_full = synchronous == "full";
  node.check("database", [&] {
    out.database = expand_home(out.database);
    check_database_path(out.database);
  });
  node.check("lease-renew", [&] {
    if (out.lease_ttl < 2 * out.lease_renew)
      refuse_value("lease-ttl must be at least twice lease-renew");
  });
  read_list(node, "outboxes", out.outboxes, [&](section_reader& entry) {
    return read_outbox(entry, out.allow_private_targets
                                ? private_targets::allowed
                                : private_targets::refused);
  });
  std::set<std::string> outboxes;
  for (auto& outbox : out.outboxes)
    outboxes.insert(outbox.name);
  read_list(node, "queues", out.queues,
            [&](section_reader& entry) { return read_queue(entry, outboxes); });
  read_list(node, "schedules", out.schedules, [&](section_reader& entry) {
    return read_schedule(entry, out.max_payload);
  });
  if (auto entry = node.map("publish"))
    out.publish = read_publish(*entry);
}

// A second block is refused, not read.
void read_block(const config_member& block, const config_member& first,
                node_config& out, finding_list& findings) {
  if (&block != &first) {
    findings.add(block.line, block.key,
                 "is given twice, in line " + std::to_string(first.line)
                   + " and in line " + std::to_string(block.line));
  } else if (block.value.what == config_node::kind::map) {
    section_reader node{find_section(block.key), block.value, block.key,
                        findings};
    read_node(node, out);
  } else {
    findings.add(block.line, block.key, "must be a block: alkstore { }");
  }
}

} // namespace

config_result read_config(const std::string& path) {
  try {
    return read_config_text(read_file(expand_home(path), largest_file));
  } catch (const failure& why) {
    config_result result;
    result.findings.push_back({0, "", why.what()});
    return result;
  }
}

config_result read_config_text(std::string_view text) {
  config_result result;
  finding_list findings;
  if (text.find('\0') != std::string_view::npos) {
    result.findings.push_back({0, "", "is no text: it holds a NUL byte"});
    return result;
  }
  auto syntax = parse_config(text, findings);
  for (auto& block : syntax.root.members)
    read_block(block, syntax.root.members.front(), result.config, findings);
  result.findings = findings.take();
  if (syntax.root.members.empty() && result.findings.empty())
    result.notes.push_back(
      std::string{text.empty() ? "is empty" : "has no alkstore { } block"}
      + ": every key has its default");
  result.rest = std::move(syntax.rest);
  return result;
}

} // namespace alkstore
