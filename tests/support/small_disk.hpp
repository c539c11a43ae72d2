// A file system of a few megabytes that a test can fill up.
#pragma once

#include "tests/support/temp_dir.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

namespace alkstore::test {

/// A tmpfs that only this process and its children see. Make it before the
/// first thread. Where none can be had the test is to say so and end:
/// `if (!disk.mounted()) return;`
class small_disk {
public:
  explicit small_disk(int64_t bytes) {
    mounted_ = enter_namespace()
               && ::mount("tmpfs", dir_.path().c_str(), "tmpfs", 0,
                          ("size=" + std::to_string(bytes)).c_str())
                    == 0;
    if (!mounted_) // ctest knows this word
      std::printf("SKIPPED: no file system can be mounted here: %s\n",
                  std::strerror(errno));
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;
  ~small_disk() {
    if (mounted_)
      ::umount2(dir_.path().c_str(), MNT_DETACH);
  }

  bool mounted() const { return mounted_; }
  std::string path(const std::string& file) const { return dir_.path(file); }

  /// Takes all but `left` bytes, rounded to pages; nothing if there are no
  /// more.
  void fill(int64_t left = 0) {
    auto take = free_bytes() - left;
    auto fd = ::open(path("filler").c_str(), O_CREAT | O_WRONLY | O_APPEND,
                     0600);
    std::array<char, 4096> page{};
    page.fill('f');
    for (; take > 0; take -= static_cast<int64_t>(page.size()))
      if (::write(fd, page.data(), page.size()) < 0)
        break;
    ::close(fd);
  }

  /// Gives back what fill() took.
  void relieve() { ::unlink(path("filler").c_str()); }

  int64_t free_bytes() const {
    struct statvfs info{};
    if (::statvfs(dir_.path().c_str(), &info) != 0)
      throw std::runtime_error{"statvfs"};
    return static_cast<int64_t>(info.f_bavail * info.f_frsize);
  }

private:
  // Mounts of our own: root's, or those of a user namespace. Once a process.
  static bool enter_namespace() {
    static const bool entered = [] {
      auto uid = ::getuid(), gid = ::getgid();
      if (::unshare(CLONE_NEWNS) != 0) {
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
          return false;
        std::ofstream{"/proc/self/setgroups"} << "deny";
        std::ofstream{"/proc/self/uid_map"} << uid << ' ' << uid << " 1";
        std::ofstream{"/proc/self/gid_map"} << gid << ' ' << gid << " 1";
      }
      return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    }();
    return entered;
  }

  temp_dir dir_;
  bool mounted_ = false;
};

} // namespace alkstore::test
