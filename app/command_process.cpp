#include "app/command_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace alkstore {

namespace {

using namespace std::chrono_literals;

constexpr millis longest_grace = 2s;
constexpr size_t kept_errors = 1024;

void check(int error, const std::string& what) {
  if (error != 0)
    throw std::system_error(error, std::generic_category(), what);
}

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

// Above 2 even if this process runs with its standard descriptors closed: the
// program's are put together from these.
unique_fd above_standard(unique_fd fd) {
  if (fd.get() > STDERR_FILENO)
    return fd;
  unique_fd moved{::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  check(moved ? 0 : errno, "cannot make a pipe");
  return moved;
}

pipe_ends make_pipe() {
  int fds[2];
  check(::pipe2(fds, O_CLOEXEC) == 0 ? 0 : errno, "cannot make a pipe");
  unique_fd read{fds[0]};
  unique_fd write{fds[1]};
  return {above_standard(std::move(read)), above_standard(std::move(write))};
}

void set_nonblocking(const unique_fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

// What becomes of descriptors, signals and the process group in the program.
class spawn_setup {
public:
  spawn_setup(int input, int errors) {
    check(posix_spawn_file_actions_init(&actions_), "cannot prepare");
    check(posix_spawnattr_init(&attributes_), "cannot prepare");
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK
                                             | POSIX_SPAWN_SETSIGDEF
                                             | POSIX_SPAWN_SETPGROUP);
  }

  spawn_setup(const spawn_setup&) = delete;
  spawn_setup& operator=(const spawn_setup&) = delete;

  ~spawn_setup() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::vector<std::string> merged_environment(
  const std::vector<std::pair<std::string, std::string>>& own) {
  std::vector<std::string> merged;
  std::transform(own.begin(), own.end(), std::back_inserter(merged),
                 [](auto& pair) { return pair.first + "=" + pair.second; });
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view text{*entry};
    auto name = text.substr(0, text.find('='));
    if (std::none_of(own.begin(), own.end(),
                     [name](auto& pair) { return pair.first == name; }))
      merged.emplace_back(text);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result(texts.size() + 1);
  std::transform(texts.begin(), texts.end(), result.begin(),
                 [](auto& text) { return text.data(); });
  return result;
}

siginfo_t wait_for(pid_t pid) {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
  return info;
}

} // namespace

command_process::command_process(command_request request,
                                 std::function<void(command_outcome)> done)
  : request_(std::move(request)),
    done_(std::move(done)),
    kill_at_(std::chrono::steady_clock::now() + request_.timeout) {
  terminate_at_ = kill_at_ - std::min(longest_grace, request_.timeout / 5);
}

void command_process::start() {
  auto& argv = request_.argv;
  if (argv.empty() || argv.front().empty())
    throw std::invalid_argument("cannot start: no program is named");
  auto what = "cannot start " + argv.front();
  auto input = make_pipe();
  auto errors = make_pipe();
  auto environment = merged_environment(request_.environment);
  spawn_setup setup{input.read.get(), errors.write.get()};
  check(::posix_spawnp(&pid_, argv.front().c_str(), setup.actions(),
                       setup.attributes(), pointers(argv).data(),
                       pointers(environment).data()),
        what);
  // glibc has a wrapper only since 2.36.
  pidfd_ = unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
  if (!pidfd_) {
    auto error = errno;
    kill();
    wait_for(pid_);
    check(error, what);
  }
  input_ = std::move(input.write);
  errors_ = std::move(errors.read);
  set_nonblocking(input_);
  set_nonblocking(errors_);
}

std::array<pollfd, 3> command_process::watched() const {
  return {pollfd{pidfd_.get(), POLLIN, 0}, pollfd{input_.get(), POLLOUT, 0},
          pollfd{errors_.get(), POLLIN, 0}};
}

command_process::time_point command_process::next_signal() const {
  if (killed_)
    return time_point::max();
  return terminated_ ? kill_at_ : terminate_at_;
}

bool command_process::serve(const pollfd* seen, time_point now) {
  if (seen[1].revents != 0)
    feed();
  if (seen[2].revents != 0)
    read_errors();
  if (seen[0].revents != 0) {
    // Until it is waited for, nobody else can have its group's number.
    if (terminated_)
      kill();
    return true;
  }
  if (!terminated_ && now >= terminate_at_) {
    terminated_ = true;
    ::kill(-pid_, SIGTERM);
  }
  if (!killed_ && now >= kill_at_)
    kill();
  return false;
}

void command_process::kill() {
  killed_ = true;
  ::kill(-pid_, SIGKILL);
}

void command_process::end(bool cancelled) {
  auto info = wait_for(pid_);
  read_errors();
  using end = command_outcome::end;
  command_outcome outcome;
  outcome.code = info.si_status;
  if (cancelled) {
    outcome.how = end::cancelled;
    outcome.error = "cancelled";
  } else if (terminated_) {
    outcome.how = end::timed_out;
    outcome.error = "timeout after " + std::to_string(request_.timeout.count())
                    + " ms";
  } else if (info.si_code == CLD_EXITED) {
    outcome.how = end::exited;
    if (outcome.code != 0)
      outcome.error = "exit status " + std::to_string(outcome.code);
  } else {
    outcome.how = end::killed;
    outcome.error = "killed by signal " + std::to_string(outcome.code);
  }
  auto last = error_tail_.find_last_not_of(" \t\r\n");
  if (!outcome.error.empty() && last != std::string::npos)
    outcome.error += ": " + error_tail_.substr(0, last + 1);
  done_(std::move(outcome));
}

void command_process::end_unstarted(command_outcome::end how,
                                    const std::string& error) {
  command_outcome outcome;
  outcome.how = how;
  outcome.error = error;
  done_(std::move(outcome));
}

void command_process::feed() {
  while (fed_ < request_.input.size()) {
    auto written = ::write(input_.get(), request_.input.data() + fed_,
                           request_.input.size() - fed_);
    if (written < 0 && errno == EAGAIN)
      return;
    // The program may close its input unread.
    if (written < 0)
      break;
    fed_ += static_cast<size_t>(written);
  }
  input_.reset();
}

// At most what a pipe holds, so that a talker cannot keep the thread.
void command_process::read_errors() {
  char buffer[4096];
  for (int i = 0; errors_ && i < 16; ++i) {
    auto size = ::read(errors_.get(), buffer, sizeof(buffer));
    if (size < 0)
      return;
    if (size == 0)
      errors_.reset();
    error_tail_.append(buffer, static_cast<size_t>(size));
    if (error_tail_.size() > kept_errors)
      error_tail_.erase(0, error_tail_.size() - kept_errors);
  }
}

} // namespace alkstore
