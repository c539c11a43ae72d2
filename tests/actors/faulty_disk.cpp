#include "tests/actors/faulty_disk.hpp"

#include "tests/catch.hpp"

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

// Followed in memory by the real file.
struct file : sqlite3_file {
  bool is_wal;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

file& of(sqlite3_file* x) {
  return *static_cast<file*>(x);
}

template <auto Method, class... Ts>
auto pass(sqlite3_file* x, Ts... values) {
  auto real = of(x).real();
  return (real->pMethods->*Method)(real, values...);
}

using io = sqlite3_io_methods;

int write(sqlite3_file* x, const void* data, int size, sqlite3_int64 at) {
  if (auto rc = of(x).is_wal ? verdict_on(disk_op::write) : SQLITE_OK)
    return rc;
  return pass<&io::xWrite>(x, data, size, at);
}

int sync(sqlite3_file* x, int flags) {
  if (auto rc = of(x).is_wal ? verdict_on(disk_op::sync) : SQLITE_OK)
    return rc;
  return pass<&io::xSync>(x, flags);
}

int shm_lock(sqlite3_file* x, int offset, int count, int flags) {
  constexpr auto take = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE;
  constexpr auto writer = 0; // WAL_WRITE_LOCK in SQLite's wal.c
  if (flags == take && offset == writer)
    if (auto rc = verdict_on(disk_op::lock))
      return rc;
  return pass<&io::xShmLock>(x, offset, count, flags);
}

const io methods = {
  2,
  pass<&io::xClose>,
  pass<&io::xRead, void*, int, sqlite3_int64>,
  write,
  pass<&io::xTruncate, sqlite3_int64>,
  sync,
  pass<&io::xFileSize, sqlite3_int64*>,
  pass<&io::xLock, int>,
  pass<&io::xUnlock, int>,
  pass<&io::xCheckReservedLock, int*>,
  pass<&io::xFileControl, int, void*>,
  pass<&io::xSectorSize>,
  pass<&io::xDeviceCharacteristics>,
  pass<&io::xShmMap, int, int, int, void volatile**>,
  shm_lock,
  pass<&io::xShmBarrier>,
  pass<&io::xShmUnmap, int>,
  nullptr,
  nullptr,
};

int open(sqlite3_vfs* self, const char* name, sqlite3_file* out, int flags,
         int* got) {
  out->pMethods = nullptr;
  if (auto rc = verdict_on(disk_op::open))
    return rc;
  auto real = static_cast<sqlite3_vfs*>(self->pAppData);
  auto& x = *new (out) file{};
  x.is_wal = (flags & SQLITE_OPEN_WAL) != 0;
  auto rc = real->xOpen(real, name, x.real(), flags, got);
  if (x.real()->pMethods)
    x.pMethods = &methods;
  return rc;
}

sqlite3_vfs ours;

} // namespace

faulty_disk::faulty_disk() : real_(sqlite3_vfs_find("unix")) {
  REQUIRE(real_);
  ours = *real_;
  ours.zName = "faulty";
  ours.szOsFile = static_cast<int>(sizeof(file)) + real_->szOsFile;
  ours.pAppData = real_;
  ours.pNext = nullptr;
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
  sqlite3_vfs_unregister(&ours);
  sqlite3_vfs_register(real_, 1);
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
