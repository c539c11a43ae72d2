#include "tests/substrate/lossy_disk.hpp"

#include "tests/catch.hpp"
#include "tests/support/passing_vfs.hpp"

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

struct open_file : test::passing_file<open_file> {
  std::string* path;
};

using io = open_file::io;

// Does it to what is kept of the file.
template <class F>
void keep(sqlite3_file* x, F what) {
  std::lock_guard lock{guard};
  what(files[*open_file::of(x).path]);
}

int close(sqlite3_file* x) {
  delete open_file::of(x).path;
  return open_file::pass<&io::xClose>(x);
}

int write(sqlite3_file* x, const void* data, int size, sqlite3_int64 at) {
  std::string bytes{static_cast<const char*>(data), static_cast<size_t>(size)};
  keep(x, [&](disk_file& file) {
    file.since.push_back({static_cast<size_t>(at), std::move(bytes), false});
  });
  return open_file::pass<&io::xWrite>(x, data, size, at);
}

int truncate(sqlite3_file* x, sqlite3_int64 size) {
  keep(x, [&](disk_file& file) {
    file.since.push_back({static_cast<size_t>(size), {}, true});
  });
  return open_file::pass<&io::xTruncate>(x, size);
}

int sync(sqlite3_file* x, int) {
  keep(x, [](disk_file& file) { file.sync(); });
  return SQLITE_OK; // the real disk has nothing to lose
}

const io methods = [] {
  auto out = open_file::passing();
  out.xClose = close;
  out.xWrite = write;
  out.xTruncate = truncate;
  out.xSync = sync;
  return out;
}();

sqlite3_vfs ours;

int open(sqlite3_vfs*, const char* name, sqlite3_file* out, int flags,
         int* got) {
  out->pMethods = nullptr;
  auto& x = *new (out) open_file{};
  auto rc = open_file::open(test::real_vfs(ours), name, x, flags, got, methods);
  if (x.pMethods)
    x.path = new std::string{name ? name : ""};
  return rc;
}

int remove(sqlite3_vfs*, const char* name, int sync_folder) {
  auto real = test::real_vfs(ours);
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

lossy_disk::lossy_disk() {
  files.clear();
  REQUIRE(test::copy_real_vfs(ours, "lossy", sizeof(open_file)));
  ours.xOpen = open;
  ours.xDelete = remove;
  REQUIRE(sqlite3_vfs_register(&ours, 1) == SQLITE_OK);
}

lossy_disk::~lossy_disk() {
  test::unregister_vfs(ours);
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
