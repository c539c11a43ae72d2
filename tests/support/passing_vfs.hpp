// What all disks of the tests have in common: a VFS of SQLite that passes
// everything on to the real one. Each replaces the calls that it is about.
#pragma once

#include "substrate/sqlite.hpp"

#include <cstddef>

namespace alkstore::test {

/// An open file, followed in memory by the real one. `File` derives from it.
template <class File>
struct passing_file : sqlite3_file {
  using io = sqlite3_io_methods;

  static File& of(sqlite3_file* x) { return *static_cast<File*>(x); }

  sqlite3_file* real() {
    return reinterpret_cast<sqlite3_file*>(static_cast<File*>(this) + 1);
  }

  template <auto Method, class... Ts>
  static auto pass(sqlite3_file* x, Ts... values) {
    auto to = static_cast<passing_file*>(x)->real();
    return (to->pMethods->*Method)(to, values...);
  }

  /// All that a file can do, passed on.
  static io passing() {
    return {
      2,
      pass<&io::xClose>,
      pass<&io::xRead, void*, int, sqlite3_int64>,
      pass<&io::xWrite, const void*, int, sqlite3_int64>,
      pass<&io::xTruncate, sqlite3_int64>,
      pass<&io::xSync, int>,
      pass<&io::xFileSize, sqlite3_int64*>,
      pass<&io::xLock, int>,
      pass<&io::xUnlock, int>,
      pass<&io::xCheckReservedLock, int*>,
      pass<&io::xFileControl, int, void*>,
      pass<&io::xSectorSize>,
      pass<&io::xDeviceCharacteristics>,
      pass<&io::xShmMap, int, int, int, void volatile**>,
      pass<&io::xShmLock, int, int, int>,
      pass<&io::xShmBarrier>,
      pass<&io::xShmUnmap, int>,
      nullptr,
      nullptr,
    };
  }

  /// Opens `x` and the real file in it; `x` works if the real one does.
  static int open(sqlite3_vfs* real, const char* name, File& x, int flags,
                  int* got, const io& methods) {
    auto rc = real->xOpen(real, name, x.real(), flags, got);
    if (x.real()->pMethods)
      x.pMethods = &methods;
    return rc;
  }
};

/// The VFS that `ours` passes on to.
inline sqlite3_vfs* real_vfs(const sqlite3_vfs& ours) {
  return static_cast<sqlite3_vfs*>(ours.pAppData);
}

/// Makes `ours` the real VFS under another name, with files of that size; not
/// yet registered. False if there is no real one.
inline bool copy_real_vfs(sqlite3_vfs& ours, const char* name,
                          size_t file_size) {
  auto* real = sqlite3_vfs_find("unix");
  if (!real)
    return false;
  ours = *real;
  ours.zName = name;
  ours.szOsFile = static_cast<int>(file_size) + real->szOsFile;
  ours.pAppData = real;
  ours.pNext = nullptr;
  return true;
}

/// Makes the real one the default again.
inline void unregister_vfs(sqlite3_vfs& ours) {
  sqlite3_vfs_unregister(&ours);
  sqlite3_vfs_register(real_vfs(ours), 1);
}

} // namespace alkstore::test
