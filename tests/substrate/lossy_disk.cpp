#include "tests/substrate/lossy_disk.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <string_view>
#include <vector>

namespace alkstore {

namespace {

constexpr size_t sector = 512;

// A change since the last sync: bytes written, or the file cut to `at`.
struct change {
  size_t at;
  std::string bytes;
  bool is_cut;
};

void apply(std::string& image, size_t at, std::string_view bytes) {
  if (image.size() < at + bytes.size())
    image.resize(at + bytes.size());
  std::copy(bytes.begin(), bytes.end(),
            image.begin() + static_cast<ptrdiff_t>(at));
}

struct disk_file {
  std::string synced;
  std::vector<change> since;

  void sync() {
    for (auto& x : since)
      x.is_cut ? synced.resize(x.at) : apply(synced, x.at, x.bytes);
    since.clear();
  }
};

std::mutex guard;
std::map<std::string, disk_file> files; // by path

// Followed in memory by the real file. `kept` is null for what needs no
// keeping.
struct open_file : sqlite3_file {
  std::string* path;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

open_file& of(sqlite3_file* x) {
  return *static_cast<open_file*>(x);
}

// Does it to what is kept of the file.
template <class F>
void keep(sqlite3_file* x, F what) {
  std::lock_guard lock{guard};
  what(files[*of(x).path]);
}

template <auto Method, class... Ts>
auto pass(sqlite3_file* x, Ts... values) {
  auto real = of(x).real();
  return (real->pMethods->*Method)(real, values...);
}

using io = sqlite3_io_methods;

int close(sqlite3_file* x) {
  delete of(x).path;
  return pass<&io::xClose>(x);
}

int write(sqlite3_file* x, const void* data, int size, sqlite3_int64 at) {
  std::string bytes{static_cast<const char*>(data), static_cast<size_t>(size)};
  keep(x, [&](disk_file& file) {
    file.since.push_back({static_cast<size_t>(at), std::move(bytes), false});
  });
  return pass<&io::xWrite>(x, data, size, at);
}

int truncate(sqlite3_file* x, sqlite3_int64 size) {
  keep(x, [&](disk_file& file) {
    file.since.push_back({static_cast<size_t>(size), {}, true});
  });
  return pass<&io::xTruncate>(x, size);
}

int sync(sqlite3_file* x, int) {
  keep(x, [](disk_file& file) { file.sync(); });
  return SQLITE_OK; // the real disk has nothing to lose
}

const io methods = {
  2,
  close,
  pass<&io::xRead, void*, int, sqlite3_int64>,
  write,
  truncate,
  sync,
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

sqlite3_vfs ours;

int open(sqlite3_vfs*, const char* name, sqlite3_file* out, int flags,
         int* got) {
  auto real = static_cast<sqlite3_vfs*>(ours.pAppData);
  out->pMethods = nullptr;
  auto& x = *new (out) open_file{};
  auto rc = real->xOpen(real, name, x.real(), flags, got);
  if (x.real()->pMethods) {
    x.path = new std::string{name ? name : ""};
    x.pMethods = &methods;
  }
  return rc;
}

int remove(sqlite3_vfs*, const char* name, int sync_folder) {
  auto real = static_cast<sqlite3_vfs*>(ours.pAppData);
  {
    std::lock_guard lock{guard};
    files.erase(name);
  }
  return real->xDelete(real, name, sync_folder);
}

std::string after_cut(const disk_file& x, lossy_disk::unsynced fate,
                      std::minstd_rand& random) {
  auto image = x.synced;
  auto arrives = [&] {
    return fate == lossy_disk::unsynced::all
           || (fate == lossy_disk::unsynced::some && random() % 2 == 0);
  };
  for (auto& one : x.since) {
    if (one.is_cut) {
      if (arrives())
        image.resize(one.at);
      continue;
    }
    for (size_t i = 0; i < one.bytes.size(); i += sector)
      if (arrives())
        apply(image, one.at + i, std::string_view{one.bytes}.substr(i, sector));
  }
  return image;
}

} // namespace

lossy_disk::lossy_disk() : real_(sqlite3_vfs_find("unix")) {
  REQUIRE(real_);
  files.clear();
  ours = *real_;
  ours.zName = "lossy";
  ours.szOsFile = static_cast<int>(sizeof(open_file)) + real_->szOsFile;
  ours.pAppData = real_;
  ours.pNext = nullptr;
  ours.xOpen = open;
  ours.xDelete = remove;
  REQUIRE(sqlite3_vfs_register(&ours, 1) == SQLITE_OK);
}

lossy_disk::~lossy_disk() {
  sqlite3_vfs_unregister(&ours);
  sqlite3_vfs_register(real_, 1);
}

void lossy_disk::cut_power(const std::string& from, const std::string& to,
                           unsynced fate, uint32_t seed) const {
  std::minstd_rand random{seed + 1};
  std::lock_guard lock{guard}; // one moment for both
  for (auto suffix : {"", "-wal"})
    if (auto found = files.find(from + suffix); found != files.end())
      std::ofstream{to + suffix, std::ios::binary}
        << after_cut(found->second, fate, random);
}

} // namespace alkstore
