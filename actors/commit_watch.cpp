#include "actors/commit_watch.hpp"

#include "actors/exact_sleeps.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace alkstore {

namespace {

constexpr int poll_period_ms = 50;

// The event comes with a commit's first page, and this thread in the way of
// that commit's others: nothing is to be seen before the disk has them all.
constexpr std::chrono::microseconds commit_time{100};

// Own commits raise events, too, thousands a second: no wake-up follows another
// sooner than this.
constexpr std::chrono::microseconds between_wakes{1000};

constexpr uint32_t writes = IN_MODIFY;
constexpr uint32_t renames = IN_CREATE | IN_DELETE | IN_MOVED_FROM
                             | IN_MOVED_TO;
constexpr uint32_t directory_gone = IN_DELETE_SELF | IN_MOVE_SELF;

} // namespace

commit_watch::commit_watch(const std::string& path, writer_actor writer,
                           const event_sink& report)
  : writer_(std::move(writer)) {
  namespace fs = std::filesystem;
  // A symbolic link's target has the WAL beside it.
  std::error_code unresolved;
  auto real = fs::canonical(path, unresolved);
  if (unresolved)
    real = path;
  file_ = real.filename();
  auto folder = real.parent_path();
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  if (stop_ < 0)
    throw failure{errc::io_error,
                  std::string{"eventfd: "} + std::strerror(errno)};
  events_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (events_ >= 0
      && ::inotify_add_watch(events_, folder.empty() ? "." : folder.c_str(),
                             writes | renames | directory_gone)
           < 0) {
    ::close(events_);
    events_ = -1;
  }
  if (events_ < 0) {
    event x;
    x.severity = event::level::warning;
    x.what = "polling";
    x.name = "commit_watch";
    x.text = std::string{"no inotify: "} + std::strerror(errno)
             + "; other processes' commits are looked for every 50 ms";
    report(x);
  }
  thread_ = std::thread{[this] { run(); }};
}

commit_watch::~commit_watch() {
  uint64_t one = 1;
  // Cannot fail: the counter is far from its limit.
  [[maybe_unused]] auto n = ::write(stop_, &one, sizeof one);
  thread_.join();
  if (events_ >= 0)
    ::close(events_);
  ::close(stop_);
}

void commit_watch::run() {
  exact_sleeps();
  std::array<pollfd, 2> fds{{{stop_, POLLIN, 0}, {events_, POLLIN, 0}}};
  auto timeout = events_ < 0 ? poll_period_ms : -1;
  for (;;) {
    auto ready = ::poll(fds.data(), fds.size(), timeout);
    if (fds[0].revents != 0)
      return;
    if (ready == 0) {
      port::send_anonymously(writer_, file_touched{});
    } else if (ready > 0) {
      pause(commit_time);
      read_events();
    }
    pause(between_wakes);
  }
}

// The stop ends it.
void commit_watch::pause(std::chrono::microseconds how_long) {
  pollfd stopped{stop_, POLLIN, 0};
  timespec left{0, std::chrono::nanoseconds{how_long}.count()};
  ::ppoll(&stopped, 1, &left, nullptr);
}

void commit_watch::read_events() {
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  bool touched = false, moved = false;
  for (;;) {
    auto got = ::read(events_, buffer.data(), buffer.size());
    if (got <= 0)
      break;
    for (auto at = buffer.data(); at < buffer.data() + got;) {
      auto& x = *reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + x.len;
      std::string_view name{x.len > 0 ? x.name : ""};
      auto ours = name == file_ || name == file_ + "-wal";
      touched |= (x.mask & IN_Q_OVERFLOW) != 0
                 || (ours && (x.mask & writes) != 0);
      moved |= (x.mask & directory_gone) != 0
               || (ours && (x.mask & renames) != 0);
    }
  }
  if (touched)
    port::send_anonymously(writer_, file_touched{});
  if (moved)
    port::send_anonymously(writer_, file_moved{});
}

} // namespace alkstore
