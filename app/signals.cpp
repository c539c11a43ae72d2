#include "app/signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace alkstore {

namespace {

unique_fd checked(int fd, const char* doing) {
  if (fd < 0)
    throw std::system_error{errno, std::generic_category(), doing};
  return unique_fd{fd};
}

} // namespace

signal_source::signal_source() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = checked(::signalfd(-1, &set, SFD_CLOEXEC), "signalfd");
  wake_ = checked(::eventfd(0, EFD_CLOEXEC), "eventfd");
}

signal_source::event signal_source::wait() {
  std::array<pollfd, 2> fds{
    {{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  while (::poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR)
    continue;
  if (fds[1].revents != 0)
    return event::woken;
  signalfd_siginfo info{};
  [[maybe_unused]] auto got = ::read(signals_.get(), &info, sizeof info);
  return event::stop;
}

void signal_source::wake() {
  uint64_t one = 1;
  [[maybe_unused]] auto put = ::write(wake_.get(), &one, sizeof one);
}

} // namespace alkstore
