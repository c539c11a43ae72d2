// The committed state of the file, and how it changes from commit to commit.
#pragma once

#include "substrate/statement.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace alkstore::sim {

/// A job's row, live or dead, and its payload. Times are wall milliseconds.
struct job_row {
  bool dead = false;
  std::string queue, worker, key, schedule, payload, stable_id, last_error;
  int priority = 0;
  int64_t at = 0; ///< died_at of a dead letter
  int64_t run_at = 0, claim_number = 0;
  bool claimed = false;
  int attempts = 0, max_attempts = 0;
  int64_t visibility = 0;
  std::optional<int64_t> expires_at;
  int64_t fire_at = 0;

  bool operator==(const job_row&) const = default;
};

struct lease_row {
  std::string owner; ///< empty: free
  int64_t token = 0, renewals = 0, ttl = 0, expires_at = 0;

  bool operator==(const lease_row&) const = default;
};

struct schedule_row {
  std::string queue;
  int64_t interval = 0, next_fire_at = 0;
  bool paused = false;

  bool operator==(const schedule_row&) const = default;
};

struct mark_row {
  int64_t job = 0, until = 0;

  bool operator==(const mark_row&) const = default;
};

struct snapshot {
  using key = std::pair<std::string, std::string>; ///< queue, dedupe key

  std::map<int64_t, job_row> jobs;
  std::map<std::string, lease_row> leases;
  std::map<std::string, schedule_row> schedules;
  std::map<key, mark_row> marks;

  bool operator==(const snapshot&) const = default;
};

/// Reads the file on a connection of the simulation's own. Everything it finds
/// in two places, or without its payload, is thrown as a std::runtime_error.
class file_reader {
public:
  explicit file_reader(const std::string& path);
  file_reader(const file_reader&) = delete;
  file_reader& operator=(const file_reader&) = delete;
  ~file_reader();

  /// Everything.
  snapshot read_all();

  /// These jobs and all other tables anew, into `state`. Returns what was there
  /// before: of the jobs only these.
  snapshot read_again(snapshot& state, const std::vector<int64_t>& jobs);

private:
  statement sql(const char* text);
  void read_job(int64_t id, snapshot& into);
  void read_small_tables(snapshot& into);

  sqlite3* db_ = nullptr;
  std::map<const char*, std::pair<sqlite3_stmt*, bool>> kept_;
};

} // namespace alkstore::sim
