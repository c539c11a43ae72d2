// The map of the command line: every command, and what it is told. What each
// one does and prints is in docs/cli.md. command_line.cpp has the options that
// fill the structs. A command returns when it did what it was asked to, and
// throws a `failure` or an input_error if not.
#pragma once

#include "app/cli/session.hpp"
#include "substrate/job.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace alkstore::cli {

/// A file of the user's that does not hold what it should.
class input_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where the bytes of a message come from: the text, or else the file, of which
/// `-` and none at all stand for standard input.
struct payload_source {
  std::optional<std::string> text;
  std::string file;

  bool given() const { return text || !file.empty(); }
};

/// Reads it whole. Errors: not_found, io_error.
std::string read_payload(const payload_source& from);

/// A queue by its name, or an outbox by its own; neither means all of them.
struct queue_choice {
  std::string queue;
  std::string outbox;

  /// Errors: invalid_name, reserved_name, invalid_argument for both at once.
  std::optional<queue_name> name() const;
};

struct page_choice {
  int64_t after = 0;
  int limit = 50;
};

// -- jobs ---------------------------------------------------------------------

struct enqueue_command {
  queue_choice where; ///< one of the two
  payload_source payload;
  job_options options;
  std::string json_lines; ///< a file of messages, in the place of one
};
void run(session& s, const enqueue_command& what);

/// `enqueue --jsonl`: the messages of a file, a transaction for many.
void enqueue_json_lines(session& s, const enqueue_command& what);

struct jobs_command {
  queue_choice where;
  std::string state;
  page_choice page;
};
void run(session& s, const jobs_command& what);

struct job_command {
  int64_t id = 0;
  bool payload = false; ///< its bytes and nothing else
  bool dead_only = false;
};
void run(session& s, const job_command& what);

struct queues_command {};
void run(session& s, const queues_command& what);

// -- dead letters -------------------------------------------------------------

struct dead_list_command {
  queue_choice where;
  page_choice page;
};
void run(session& s, const dead_list_command& what);

struct dead_change_command {
  enum class action { requeue, remove };

  action what = action::requeue;
  std::vector<int64_t> ids; ///< or else all of a queue
  queue_choice where;
};
void run(session& s, const dead_change_command& what);

// -- schedules ----------------------------------------------------------------

struct schedule_add_command {
  std::string name, spec, queue;
  payload_source payload;
  job_options options;
};
void run(session& s, const schedule_add_command& what);

struct schedule_list_command {};
void run(session& s, const schedule_list_command& what);

struct schedule_show_command {
  std::string name;
  bool payload = false;
};
void run(session& s, const schedule_show_command& what);

struct schedule_change_command {
  enum class action { remove, pause, resume };

  action what = action::remove;
  std::string name;
};
void run(session& s, const schedule_change_command& what);

struct schedule_next_command {
  std::string name; ///< empty: all of them
  int count = 5;
};
void run(session& s, const schedule_next_command& what);

// -- the store ----------------------------------------------------------------

struct locks_command {};
void run(session& s, const locks_command& what);

struct leader_command {};
void run(session& s, const leader_command& what);

struct stats_command {};
void run(session& s, const stats_command& what);

/// Its findings are its output: returns the exit status.
struct check_command {};
int run(session& s, const check_command& what);

struct backup_command {
  std::string target;
};
void run(session& s, const backup_command& what);

struct vacuum_command {};
void run(session& s, const vacuum_command& what);

} // namespace alkstore::cli
