// A file descriptor with an owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace alkstore {

/// Closes its descriptor at the end. -1 stands for none, as in poll().
class unique_fd {
public:
  unique_fd() = default;
  explicit unique_fd(int fd) : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~unique_fd() { reset(); }

  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }

  explicit operator bool() const { return fd_ >= 0; }

  void reset() {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }

private:
  int fd_ = -1;
};

} // namespace alkstore
