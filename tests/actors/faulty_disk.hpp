// A disk that fails on demand, under every connection opened while it lives.
#pragma once

#include "substrate/sqlite.hpp"

namespace alkstore::test {

/// What a disk does for SQLite. Writes and syncs are those of a WAL.
enum class disk_op : int { open, write, sync, lock };

class faulty_disk {
public:
  faulty_disk();
  faulty_disk(const faulty_disk&) = delete;
  faulty_disk& operator=(const faulty_disk&) = delete;
  ~faulty_disk();

  /// Lets `skip` calls pass, then answers `times` calls with `code`. A lock is
  /// the write lock.
  void fail(disk_op op, int code, int times = 1, int skip = 0);

  /// Calls failed so far, all in all.
  int failed() const;
};

} // namespace alkstore::test
