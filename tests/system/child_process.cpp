#include "tests/system/child_process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace alkstore::test {

namespace {

constexpr uid_t nobody = 65534;

unique_fd checked(int fd, const char* doing) {
  if (fd < 0)
    throw std::system_error{errno, std::generic_category(), doing};
  return unique_fd{fd};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& x : texts)
    out.push_back(x.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> with_our_environment(std::vector<std::string> more) {
  for (auto x = ::environ; *x != nullptr; ++x)
    more.emplace_back(*x);
  return more;
}

} // namespace

child_process::child_process(child_options options)
  : log_(options.log ? options.log : std::make_shared<line_log>()) {
  auto environment = with_our_environment(options.environment);
  auto argv = pointers(options.argv);
  auto envp = pointers(environment);
  // Opened as ourselves: the way there may be closed to nobody.
  auto program = checked(::open(argv[0], O_PATH | O_CLOEXEC), argv[0]);
  auto input = checked(::open(options.input.c_str(), O_RDONLY | O_CLOEXEC),
                       options.input.c_str());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error{errno, std::generic_category(), "pipe2"};
  output_ = unique_fd{ends[0]};
  unique_fd write_end{ends[1]};
  ended_ = checked(::eventfd(0, EFD_CLOEXEC), "eventfd");
  auto parent = ::getpid();
  auto drop = options.unprivileged && ::geteuid() == 0;
  pid_ = ::fork();
  if (pid_ < 0)
    throw std::system_error{errno, std::generic_category(), "fork"};
  if (pid_ == 0) { // only what is safe after a fork of a process with threads
    ::dup2(input.get(), STDIN_FILENO);
    ::dup2(write_end.get(), STDOUT_FILENO);
    ::dup2(write_end.get(), STDERR_FILENO);
    auto fine = ::chdir(options.directory.c_str()) == 0;
    if (drop)
      fine = fine && ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0
             && ::setuid(nobody) == 0;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a change of user would clear it
    if (fine && ::getppid() == parent)
      ::syscall(SYS_execveat, program.get(), "", argv.data(), envp.data(),
                AT_EMPTY_PATH);
    ::_exit(127);
  }
  process_ = checked(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)),
                     "pidfd_open");
  reading_ = std::thread{[this] { read_lines(); }};
}

child_process::~child_process() {
  try {
    kill();
  } catch (const std::exception&) {
    // Nothing that a test could do about it.
  }
  if (reading_.joinable())
    reading_.join();
}

void child_process::signal(int number) {
  if (!status_)
    ::kill(pid_, number);
}

void child_process::kill() {
  signal(SIGKILL);
  exit_status();
}

void child_process::freeze() {
  signal(SIGSTOP);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED) != 0
         && errno == EINTR)
    continue;
}

int child_process::exit_status(millis within) {
  if (status_)
    return *status_;
  auto until = steady_now() + within;
  pollfd process{process_.get(), POLLIN, 0};
  while (process.revents == 0) {
    auto left = until - steady_now();
    if (left <= millis{0})
      throw std::runtime_error{"it does not end:\n" + output()};
    ::poll(&process, 1, static_cast<int>(left.count()));
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // Its own children may hold the pipe open: what is in there is all.
  uint64_t one = 1;
  [[maybe_unused]] auto put = ::write(ended_.get(), &one, sizeof one);
  reading_.join();
  return *status_;
}

void child_process::read_lines() {
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  std::array<pollfd, 2> fds{
    {{output_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}}};
  std::array<char, 16384> buffer;
  std::string rest;
  for (;;) {
    ::poll(fds.data(), fds.size(), -1);
    auto size = ::read(output_.get(), buffer.data(), buffer.size());
    if (size == 0 || (size < 0 && errno == EAGAIN && fds[1].revents != 0))
      break;
    for (auto c : std::string_view{
           buffer.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))}) {
      if (c == '\n')
        log_->add(pid_, std::exchange(rest, {}));
      else
        rest += c;
    }
  }
  if (!rest.empty())
    log_->add(pid_, rest);
  log_->end(pid_);
}

} // namespace alkstore::test
