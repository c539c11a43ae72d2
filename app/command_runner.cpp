#include "app/command_runner.hpp"

#include "app/command_process.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

namespace alkstore {

namespace {

using process_ptr = std::unique_ptr<command_process>;
using end = command_outcome::end;

void stop_ignoring_children() {
  struct sigaction action{};
  ::sigaction(SIGCHLD, nullptr, &action);
  if (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0)
    ::signal(SIGCHLD, SIG_DFL);
}

} // namespace

class command_runner::impl {
public:
  impl() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_)
      throw std::system_error(errno, std::generic_category(),
                              "cannot make an eventfd");
    stop_ignoring_children();
    thread_ = std::thread{[this] { loop(); }};
  }

  ~impl() {
    {
      std::lock_guard guard{mutex_};
      stopping_ = true;
    }
    wake();
    thread_.join();
  }

  void run(command_request request, std::function<void(command_outcome)> done) {
    auto process = std::make_unique<command_process>(std::move(request),
                                                     std::move(done));
    {
      std::lock_guard guard{mutex_};
      inbox_.push_back(std::move(process));
    }
    wake();
  }

private:
  void wake() {
    uint64_t one = 1;
    // Fails only when it is full of wake-ups.
    [[maybe_unused]] auto ignored = ::write(wake_.get(), &one, sizeof(one));
  }

  void loop() {
    // The program's signals belong to other threads, and a write to a closed
    // pipe must not raise SIGPIPE.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::vector<pollfd> seen;
    while (!stopping()) {
      for (auto& process : take())
        start(std::move(process));
      seen.assign(1, pollfd{wake_.get(), POLLIN, 0});
      for (auto& process : running_)
        for (auto& fd : process->watched())
          seen.push_back(fd);
      ::poll(seen.data(), seen.size(), wait_ms());
      uint64_t count = 0;
      [[maybe_unused]] auto ignored = ::read(wake_.get(), &count,
                                             sizeof(count));
      serve(seen.data() + 1);
    }
    cancel();
  }

  bool stopping() {
    std::lock_guard guard{mutex_};
    return stopping_;
  }

  std::vector<process_ptr> take() {
    std::lock_guard guard{mutex_};
    return std::exchange(inbox_, {});
  }

  void start(process_ptr process) {
    if (process->next_signal() <= std::chrono::steady_clock::now()) {
      process->end_unstarted(end::timed_out, "timeout before the start");
      return;
    }
    try {
      process->start();
    } catch (const std::exception& error) {
      process->end_unstarted(end::not_started, error.what());
      return;
    }
    running_.push_back(std::move(process));
  }

  // For ever if nothing runs.
  int wait_ms() const {
    auto next = command_process::time_point::max();
    for (auto& process : running_)
      next = std::min(next, process->next_signal());
    if (next == command_process::time_point::max())
      return -1;
    auto left = std::chrono::ceil<millis>(next
                                          - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<millis::rep>(left.count(), 0, INT_MAX));
  }

  void serve(const pollfd* seen) {
    auto now = std::chrono::steady_clock::now();
    for (auto& process : std::exchange(running_, {})) {
      if (process->serve(seen, now))
        process->end();
      else
        running_.push_back(std::move(process));
      seen += 3;
    }
  }

  void cancel() {
    for (auto& process : running_)
      process->kill();
    for (auto& process : std::exchange(running_, {}))
      process->end(true);
    for (auto left = take(); !left.empty(); left = take())
      for (auto& process : left)
        process->end_unstarted(end::cancelled, "cancelled");
  }

  unique_fd wake_;
  /// The thread's own.
  std::vector<process_ptr> running_;

  std::mutex mutex_;
  std::vector<process_ptr> inbox_;
  bool stopping_ = false;
  std::thread thread_;
};

command_runner::command_runner() : impl_(std::make_unique<impl>()) {}

command_runner::~command_runner() = default;

void command_runner::run(command_request request,
                         std::function<void(command_outcome)> done) {
  impl_->run(std::move(request), std::move(done));
}

} // namespace alkstore
