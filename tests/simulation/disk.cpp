#include "tests/simulation/disk.hpp"

#include "tests/support/passing_vfs.hpp"

#include <algorithm>
#include <new>
#include <string_view>

namespace alkstore::sim {

namespace {

disk* the_disk = nullptr;

struct file : test::passing_file<file> {
  int process;
  bool is_wal;
};

sqlite3_vfs ours;
sqlite3_mem_methods real_memory;

} // namespace

struct hooks {
  using io = file::io;

  static int ask(disk_op op, sqlite3_file* x) {
    return the_disk->verdict_on(op, file::of(x).process);
  }

  static int read(sqlite3_file* x, void* data, int size, sqlite3_int64 at) {
    if (auto rc = ask(disk_op::read, x))
      return rc;
    return file::pass<&io::xRead>(x, data, size, at);
  }

  static int write(sqlite3_file* x, const void* data, int size,
                   sqlite3_int64 at) {
    auto was_alive = !the_disk->is_dead(file::of(x).process);
    if (auto rc = ask(disk_op::write, x)) {
      if (was_alive
          && the_disk->is_dead(file::of(x).process)) // died in the middle
        file::pass<&io::xWrite>(x, data, size / 2, at);
      return rc;
    }
    if (file::of(x).is_wal && !std::exchange(the_disk->written_, true))
      the_disk->written_under_ = the_disk->locked_at_;
    return file::pass<&io::xWrite>(x, data, size, at);
  }

  static int truncate(sqlite3_file* x, sqlite3_int64 size) {
    if (the_disk->is_dead(file::of(x).process))
      return SQLITE_IOERR_TRUNCATE;
    return file::pass<&io::xTruncate>(x, size);
  }

  static int sync(sqlite3_file* x, int) { return ask(disk_op::sync, x); }

  static int lock(sqlite3_file* x, int level) {
    if (the_disk->is_dead(file::of(x).process))
      return SQLITE_IOERR_LOCK;
    return file::pass<&io::xLock>(x, level);
  }

  static int shm_lock(sqlite3_file* x, int offset, int count, int flags) {
    constexpr auto writer = 0; // WAL_WRITE_LOCK in SQLite's wal.c
    auto takes = (flags & SQLITE_SHM_LOCK) != 0;
    if (takes && the_disk->is_dead(file::of(x).process))
      return SQLITE_IOERR_SHMLOCK; // SQLite waits for one that is BUSY
    auto for_writing = takes && (flags & SQLITE_SHM_EXCLUSIVE) != 0
                       && offset == writer;
    if (for_writing)
      if (auto rc = ask(disk_op::lock, x))
        return rc;
    auto rc = file::pass<&io::xShmLock>(x, offset, count, flags);
    if (for_writing && rc == SQLITE_OK)
      the_disk->locked_at_ = the_disk->where_.wall_now();
    return rc;
  }

  static int open(sqlite3_vfs* self, const char* name, sqlite3_file* out,
                  int flags, int* got) {
    out->pMethods = nullptr;
    auto process = the_disk->where_.process;
    if (auto rc = the_disk->verdict_on(disk_op::open, process))
      return rc;
    auto& x = *new (out) file{};
    x.process = process;
    x.is_wal = (flags & SQLITE_OPEN_WAL) != 0;
    return file::open(test::real_vfs(*self), name, x, flags, got, methods);
  }

  static int remove(sqlite3_vfs* self, const char* name, int sync) {
    if (the_disk->is_dead(the_disk->where_.process))
      return SQLITE_IOERR_DELETE;
    auto real = test::real_vfs(*self);
    return real->xDelete(real, name, sync);
  }

  static bool memory_is_short() {
    return the_disk
           && the_disk->verdict_on(disk_op::memory, the_disk->where_.process)
                != SQLITE_OK;
  }

  static void* allocate(int size) {
    return memory_is_short() ? nullptr : real_memory.xMalloc(size);
  }

  static void* reallocate(void* x, int size) {
    return memory_is_short() ? nullptr : real_memory.xRealloc(x, size);
  }

  static void on_change(void*, int, const char*, const char* table,
                        sqlite3_int64 row) {
    if (the_disk && std::string_view{table} != "alkstore_schedules")
      the_disk->touched_.push_back(row);
  }

  // SQLite calls it for each connection that is opened.
  static int on_connection(sqlite3* db, const char**,
                           const sqlite3_api_routines*) {
    sqlite3_update_hook(db, on_change, nullptr);
    return SQLITE_OK;
  }

  // Anew for each seed, so that none finds what another left in SQLite.
  static void install() {
    sqlite3_shutdown();
    static const auto real = [] {
      sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
      return real_memory;
    }();
    auto memory = real;
    memory.xMalloc = allocate;
    memory.xRealloc = reallocate;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(on_connection));
  }

  static const io methods;
};

const hooks::io hooks::methods = [] {
  auto out = file::passing();
  out.xRead = read;
  out.xWrite = write;
  out.xTruncate = truncate;
  out.xSync = sync;
  out.xLock = lock;
  out.xShmLock = shm_lock;
  return out;
}();

disk::disk(machine& where) : where_(where) {
  hooks::install();
  test::copy_real_vfs(ours, "simulated", sizeof(file));
  ours.xOpen = hooks::open;
  ours.xDelete = hooks::remove;
  sqlite3_vfs_register(&ours, 1);
  the_disk = this;
}

disk::~disk() {
  the_disk = nullptr;
  test::unregister_vfs(ours);
}

int disk::verdict_on(disk_op op, int process) {
  if (dead_.count(process) != 0)
    return op == disk_op::memory ? SQLITE_OK : SQLITE_IOERR;
  auto planned = faults_.find(process);
  if (planned == faults_.end())
    return SQLITE_OK;
  auto& all = planned->second;
  auto x = std::find_if(all.begin(), all.end(),
                        [op](auto& one) { return one.op == op; });
  if (x == all.end() || x->skip-- > 0)
    return SQLITE_OK;
  auto fired = *x;
  x->skip = 0;
  if (--x->times <= 0)
    all.erase(x);
  ++count_;
  where_.pass(fired.slow);
  if (fired.dies)
    dead_.insert(process);
  return fired.code;
}

} // namespace alkstore::sim
