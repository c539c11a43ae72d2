#include "tests/actors/faulty_disk.hpp"

#include "tests/catch.hpp"
#include "tests/support/passing_vfs.hpp"

#include <array>
#include <mutex>
#include <new>
#include <string_view>

namespace alkstore::test {

namespace {

struct plan {
  int code = SQLITE_OK;
  int times = 0;
  int skip = 0;
};

std::mutex guard;
std::array<plan, 4> plans;
int failures = 0;

// SQLITE_OK: the real disk is asked.
int verdict_on(disk_op op) {
  std::lock_guard lock{guard};
  auto& x = plans[static_cast<size_t>(op)];
  if (x.times == 0 || (x.skip > 0 && x.skip-- > 0))
    return SQLITE_OK;
  --x.times;
  ++failures;
  return x.code;
}

struct file : passing_file<file> {
  bool is_wal;
};

using io = file::io;

int write(sqlite3_file* x, const void* data, int size, sqlite3_int64 at) {
  if (auto rc = file::of(x).is_wal ? verdict_on(disk_op::write) : SQLITE_OK)
    return rc;
  return file::pass<&io::xWrite>(x, data, size, at);
}

int sync(sqlite3_file* x, int flags) {
  if (auto rc = file::of(x).is_wal ? verdict_on(disk_op::sync) : SQLITE_OK)
    return rc;
  return file::pass<&io::xSync>(x, flags);
}

int shm_lock(sqlite3_file* x, int offset, int count, int flags) {
  constexpr auto take = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE;
  constexpr auto writer = 0; // WAL_WRITE_LOCK in SQLite's wal.c
  if (flags == take && offset == writer)
    if (auto rc = verdict_on(disk_op::lock))
      return rc;
  return file::pass<&io::xShmLock>(x, offset, count, flags);
}

const io methods = [] {
  auto out = file::passing();
  out.xWrite = write;
  out.xSync = sync;
  out.xShmLock = shm_lock;
  return out;
}();

int open(sqlite3_vfs* self, const char* name, sqlite3_file* out, int flags,
         int* got) {
  out->pMethods = nullptr;
  if (auto rc = verdict_on(disk_op::open))
    return rc;
  auto& x = *new (out) file{};
  x.is_wal = (flags & SQLITE_OPEN_WAL) != 0;
  return file::open(real_vfs(*self), name, x, flags, got, methods);
}

sqlite3_vfs ours;

} // namespace

faulty_disk::faulty_disk() {
  REQUIRE(copy_real_vfs(ours, "faulty", sizeof(file)));
  ours.xOpen = open;
  REQUIRE(sqlite3_vfs_register(&ours, 1) == SQLITE_OK);
  std::lock_guard lock{guard};
  plans = {};
  failures = 0;
}

faulty_disk::~faulty_disk() {
  {
    std::lock_guard lock{guard};
    plans = {};
  }
  unregister_vfs(ours);
}

void faulty_disk::fail(disk_op op, int code, int times, int skip) {
  std::lock_guard lock{guard};
  plans[static_cast<size_t>(op)] = {code, times, skip};
}

int faulty_disk::failed() const {
  std::lock_guard lock{guard};
  return failures;
}

} // namespace alkstore::test
