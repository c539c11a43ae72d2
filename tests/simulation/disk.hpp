// The disk and the memory under every simulated process, which fail on demand.
#pragma once

#include "substrate/sqlite.hpp"
#include "tests/simulation/machine.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace alkstore::sim {

/// What a process asks the disk for. A lock is the WAL's write lock. `memory`
/// is an allocation within SQLite.
enum class disk_op : uint8_t { open, read, write, sync, lock, memory };

/// SQLite's default file system while it lives, one at a time. Files are real;
/// syncs are not, for no simulated machine loses its power.
class disk {
public:
  explicit disk(machine& where);
  disk(const disk&) = delete;
  disk& operator=(const disk&) = delete;
  ~disk();

  /// What happens to a process's calls of one kind after `skip` of them.
  struct fault {
    disk_op op{};
    int skip = 0;
    int times = 1;
    int code = SQLITE_IOERR; ///< the answer; SQLITE_OK: slow, and no fault
    nanos slow{0};           ///< the time that it takes
    bool dies = false;       ///< the process is killed in the middle of it
  };
  void plan(int process, const fault& x) { faults_[process].push_back(x); }
  void forget_faults() { faults_.clear(); }

  /// The process is dead: nothing that its actors still do reaches a file, and
  /// closing one only drops the locks.
  void kill(int process) { dead_.insert(process); }
  bool is_dead(int process) const { return dead_.count(process) != 0; }

  /// True if a WAL was written to since the last call.
  bool take_written() { return std::exchange(written_, false); }

  /// Rows of the store's tables that any connection touched since the last
  /// call, rolled back or not.
  std::vector<int64_t> take_touched() { return std::exchange(touched_, {}); }

  /// The wall clock when the write lock was taken for what was written: one may
  /// have been taken since, to empty the WAL.
  timestamp locked_at() const { return written_under_; }

  int faults_so_far() const { return count_; }

private:
  friend struct hooks;

  /// SQLITE_OK: the real disk is asked.
  int verdict_on(disk_op op, int process);

  machine& where_;
  std::map<int, std::vector<fault>> faults_;
  std::set<int> dead_;
  std::vector<int64_t> touched_;
  timestamp locked_at_{};
  timestamp written_under_{};
  bool written_ = false;
  int count_ = 0;
};

} // namespace alkstore::sim
