#include "bench/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace alkstore::bench {

child::child(const std::vector<std::string>& argv) {
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
    throw std::runtime_error{"no pipe for a child"};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::vector<char*> raw;
  raw.reserve(argv.size() + 1);
  for (auto& x : argv)
    raw.push_back(const_cast<char*>(x.c_str()));
  raw.push_back(nullptr);
  auto failed = ::posix_spawn(&pid_, raw[0], &actions, nullptr, raw.data(),
                              environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
  if (failed)
    throw std::runtime_error{"cannot start " + argv[0] + ": "
                             + std::strerror(failed)};
}

child::~child() {
  ::close(input_);
  ::close(output_);
  signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void child::signal(int number) const {
  ::kill(pid_, number);
}

void child::send(char byte) const {
  if (::write(input_, &byte, 1) != 1)
    throw std::runtime_error{"a child is gone"};
}

bool child::receive(void* to, size_t size) const {
  for (auto at = static_cast<char*>(to); size > 0;) {
    auto got = ::read(output_, at, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

std::string child::line_with(const std::string& what) {
  for (;;) {
    while (rest_.find('\n') == std::string::npos) {
      std::array<char, 4096> buffer;
      auto got = ::read(output_, buffer.data(), buffer.size());
      if (got <= 0)
        throw std::runtime_error{"a child ended without saying \"" + what
                                 + "\""};
      rest_.append(buffer.data(), static_cast<size_t>(got));
    }
    auto end = rest_.find('\n');
    auto line = rest_.substr(0, end);
    rest_.erase(0, end + 1);
    if (line.find(what) != std::string::npos)
      return line;
  }
}

std::string program(const std::string& name) {
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return name.empty() ? self : self.parent_path() / name;
}

} // namespace alkstore::bench
