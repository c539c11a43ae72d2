#include "app/cli/session.hpp"

#include "app/config_reader.hpp"
#include "app/json/nearest.hpp"
#include "substrate/jobs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <vector>

namespace alkstore::cli {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_missing(const std::string& path) {
  auto folder = fs::absolute(path).parent_path();
  std::vector<std::string> names;
  std::error_code ignored;
  for (auto& entry : fs::directory_iterator{folder, ignored})
    names.push_back(entry.path().filename().string());
  std::vector<std::string_view> known{names.begin(), names.end()};
  throw failure{errc::not_found,
                "database " + path + ": there is no such file"
                  + did_you_mean(fs::path{path}.filename().string(), known)
                  + "; --create makes it"};
}

} // namespace

session::session(settings chosen)
  : chosen_(std::move(chosen)), out_(chosen_.json, chosen_.utc) {
  if (!chosen_.config_file.empty()) {
    auto file = read_config(chosen_.config_file);
    for (auto& what : file.findings)
      std::cerr << render(chosen_.config_file, what) << '\n';
    if (!file.findings.empty())
      throw wrong_config{};
    config_ = std::move(file.config);
    if (chosen_.database.empty())
      chosen_.database = config_.database;
  }
  if (auto named = std::getenv("ALKSTORE_DATABASE");
      chosen_.database.empty() && named != nullptr)
    chosen_.database = named;
}

const std::string& session::database() const {
  if (chosen_.database.empty())
    throw failure{errc::invalid_argument,
                  "which database? Name it with --database FILE, with "
                  "--config-file FILE or in ALKSTORE_DATABASE"};
  return chosen_.database;
}

open_options session::options(bool read_only) const {
  return {.sync = config_.synchronous_full ? durability::full
                                           : durability::normal,
          .read_only = read_only,
          .busy_timeout = config_.busy_timeout,
          .rules = {.max_payload = static_cast<size_t>(config_.max_payload),
                    .dedupe_for = config_.dedupe_for}};
}

connection session::open_to_read() const {
  if (chosen_.create)
    return {database(), options(false)};
  if (std::error_code ignored; !fs::exists(database(), ignored) && !ignored)
    refuse_missing(database());
  return {database(), options(true)};
}

connection session::open_to_write() const {
  open_to_read(); // refuses a missing file, and one that is no store
  return {database(), options(false)};
}

void session::hint_at_queues(transaction& tx, const queue_name& queue) const {
  std::vector<std::string> names;
  for (auto& x : jobs::stats(tx))
    if (auto other = queue_name::stored(x.queue);
        other.is_outbox() == queue.is_outbox())
      names.emplace_back(other.name());
  if (std::find(names.begin(), names.end(), queue.name()) != names.end())
    return; // it is there, only not what was asked of it
  std::vector<std::string_view> known{names.begin(), names.end()};
  if (auto hint = did_you_mean(queue.name(), known); !hint.empty())
    std::cerr << "alkstore: " << (queue.is_outbox() ? "outbox " : "queue ")
              << queue.name() << " holds no job" << hint << '\n';
}

} // namespace alkstore::cli
