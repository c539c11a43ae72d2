#include "actors/commit_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace alkstore {

namespace {

using std::chrono::microseconds;

constexpr microseconds poll_period{50'000};

// The event comes with a commit's first page, and this process in the way of
// that commit's others: nothing is to be seen before the disk has them all.
constexpr microseconds commit_time{50};

// Own commits raise events, too, thousands a second: no look follows another,
// or own work, sooner than this.
constexpr microseconds between_looks{1000};

constexpr uint32_t writes = IN_MODIFY;
constexpr uint32_t renames = IN_CREATE | IN_DELETE | IN_MOVED_FROM
                             | IN_MOVED_TO;
constexpr uint32_t directory_gone = IN_DELETE_SELF | IN_MOVE_SELF;

} // namespace

commit_watch::commit_watch(const std::string& path, const event_sink& report) {
  namespace fs = std::filesystem;
  // A symbolic link's target has the WAL beside it.
  std::error_code unresolved;
  auto real = fs::canonical(path, unresolved);
  if (unresolved)
    real = path;
  file_ = real.filename();
  auto folder = real.parent_path();
  events_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (events_ >= 0
      && ::inotify_add_watch(events_, folder.empty() ? "." : folder.c_str(),
                             writes | renames | directory_gone)
           < 0) {
    ::close(events_);
    events_ = -1;
  }
  if (events_ >= 0)
    return;
  look_at_ = time_point{}; // at once, and then time and again
  event x;
  x.severity = event::level::warning;
  x.what = "polling";
  x.name = "commit_watch";
  x.text = std::string{"no inotify: "} + std::strerror(errno)
           + "; other processes' commits are looked for every 50 ms";
  report(x);
}

commit_watch::~commit_watch() {
  if (events_ >= 0)
    ::close(events_);
}

std::optional<std::chrono::nanoseconds>
commit_watch::patience(time_point now) const {
  if (!look_at_)
    return std::nullopt;
  return std::max(*look_at_ - now, std::chrono::nanoseconds{0});
}

commit_watch::sight commit_watch::look(bool readable, time_point now) {
  sight out;
  if (readable) {
    out = read_events();
    if (std::exchange(out.touched, false))
      look_at_ = std::max(now + commit_time, busy_ + between_looks);
  }
  if (!look_at_ || now < *look_at_)
    return out;
  out.touched = true;
  busy_ = now;
  look_at_.reset();
  if (events_ < 0)
    look_at_ = now + poll_period;
  return out;
}

void commit_watch::has_looked() {
  if (events_ >= 0)
    look_at_.reset();
}

commit_watch::sight commit_watch::read_events() {
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  sight out;
  for (;;) {
    auto got = ::read(events_, buffer.data(), buffer.size());
    if (got <= 0)
      break;
    for (auto at = buffer.data(); at < buffer.data() + got;) {
      auto& x = *reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + x.len;
      std::string_view name{x.len > 0 ? x.name : ""};
      auto ours = name == file_ || name == file_ + "-wal";
      out.touched |= (x.mask & IN_Q_OVERFLOW) != 0
                     || (ours && (x.mask & writes) != 0);
      out.moved |= (x.mask & directory_gone) != 0
                   || (ours && (x.mask & renames) != 0);
    }
  }
  return out;
}

} // namespace alkstore
