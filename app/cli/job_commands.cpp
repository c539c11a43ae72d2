// enqueue, outbox send, queues, jobs, job.

#include "app/cli/commands.hpp"
#include "app/json/job_record.hpp"
#include "app/unique_fd.hpp"
#include "substrate/claims.hpp"
#include "substrate/dead_letters.hpp"
#include "substrate/jobs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

namespace alkstore::cli {

namespace {

// SQLite holds no longer blob, so that nobody could want to store more.
constexpr size_t longest_input = 1024 * 1024 * 1024;

std::string read_all(int from, const std::string& name) {
  std::string out;
  char buffer[65536];
  for (;;) {
    auto size = ::read(from, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      throw failure{errc::io_error, name + ": " + std::strerror(errno)};
    if (size == 0)
      return out;
    out.append(buffer, static_cast<size_t>(size));
    if (out.size() > longest_input)
      throw failure{errc::payload_too_large, name + ": is above 1 GiB"};
  }
}

std::string described(const queue_name& queue) {
  return (queue.is_outbox() ? "outbox " : "queue ") + std::string{queue.name()};
}

} // namespace

std::string read_payload(const payload_source& from) {
  if (from.text)
    return *from.text;
  if (from.file.empty() || from.file == "-") {
    if (::isatty(STDIN_FILENO) == 1)
      std::cerr << "alkstore: the payload is what you type; Ctrl-D ends it\n";
    return read_all(STDIN_FILENO, "standard input");
  }
  unique_fd file{::open(from.file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file)
    throw failure{errno == ENOENT ? errc::not_found : errc::io_error,
                  from.file + ": " + std::strerror(errno)};
  return read_all(file.get(), from.file);
}

std::optional<queue_name> queue_choice::name() const {
  if (!queue.empty() && !outbox.empty())
    throw failure{errc::invalid_argument,
                  "a queue and --outbox: only one of them can be meant"};
  if (!outbox.empty())
    return queue_name::outbox(outbox);
  if (!queue.empty())
    return queue_name::plain(queue);
  return std::nullopt;
}

void run(session& s, const enqueue_command& what) {
  auto queue = what.where.name().value();
  if (!what.json_lines.empty())
    return enqueue_json_lines(s, what);
  auto payload = read_payload(what.payload);
  auto db = s.open_to_write();
  transaction tx{db};
  auto before = tx.changes_so_far();
  auto id = jobs::enqueue(tx, queue, payload, what.options);
  auto stored = tx.changes_so_far() != before;
  tx.commit();
  s.out().tell("job " + std::to_string(id) + " in " + described(queue)
                 + (stored ? "" : ": it was there, with that dedupe key"),
               {{"id", id}, {"stored", stored}});
}

void run(session& s, const queues_command&) {
  auto db = s.open_to_read();
  transaction tx{db, transaction::access::read};
  std::vector<record> rows;
  for (auto& x : jobs::stats(tx)) {
    auto queue = queue_name::stored(x.queue);
    auto due = claims::next_claim_at(tx, queue);
    auto name = std::string{queue.name()};
    rows.push_back({{"queue", queue.is_outbox() ? cell{} : cell{name}},
                    {"outbox", queue.is_outbox() ? cell{name} : cell{}},
                    {"waiting", x.waiting},
                    {"delayed", x.delayed},
                    {"running", x.running},
                    {"dead", x.dead},
                    {"next_due_at", maybe(due)}});
  }
  s.out().show(rows, {"queue", "outbox", "waiting", "delayed", "running",
                      "dead", "next_due_at"});
}

void run(session& s, const jobs_command& what) {
  jobs::filter wanted{.queue = what.where.name(),
                      .after = what.page.after,
                      .max = what.page.limit};
  if (what.state == "waiting")
    wanted.state = jobs::live_state::waiting;
  else if (what.state == "delayed")
    wanted.state = jobs::live_state::delayed;
  else if (what.state == "running")
    wanted.state = jobs::live_state::running;
  auto db = s.open_to_read();
  transaction tx{db, transaction::access::read};
  std::vector<record> rows;
  for (auto& x : jobs::list(tx, wanted))
    rows.push_back(job_record(x, tx.now()));
  if (rows.empty() && wanted.queue)
    s.hint_at_queues(tx, *wanted.queue);
  s.out().show(rows, {"id", "state", "queue", "outbox", "priority", "attempts",
                      "max_attempts", "run_at", "schedule", "last_error"});
}

void run(session& s, const job_command& what) {
  auto db = s.open_to_read();
  transaction tx{db, transaction::access::read};
  auto found = what.dead_only ? dead_letters::get(tx, what.id)
                              : jobs::get(tx, what.id);
  if (what.payload)
    std::cout << found.payload;
  else
    s.out().show(whole_job_record(found, tx.now()));
}

} // namespace alkstore::cli
