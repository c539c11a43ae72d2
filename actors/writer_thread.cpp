#include "actors/writer_thread.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace alkstore {

namespace {

// Under a flood of messages the file is looked after in between.
constexpr size_t messages_at_once = 1000;

// Linux lets a sleep take 50 us longer, to wake several threads at once; those
// of this thread are shorter than that. Where it cannot be had they are long.
void sleep_exactly() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
}

timespec to_timespec(std::chrono::nanoseconds x) {
  auto whole = std::chrono::floor<std::chrono::seconds>(x);
  return {whole.count(), (x - whole).count()};
}

} // namespace

/// The thread is that of a CAF actor without any message, so that the actor
/// system knows of it and waits for its end. A class: 0.17 dereferences a null
/// pointer to start a function without arguments.
class writer_thread::host final : public caf::event_based_actor {
public:
  host(caf::actor_config& cfg, std::shared_ptr<writer_thread> thread)
    : caf::event_based_actor(cfg), thread_(std::move(thread)) {}

  caf::behavior make_behavior() override {
    thread_->run(context());
    return {};
  }

private:
  std::shared_ptr<writer_thread> thread_;
};

writer_thread::writer_thread(caf::actor_system& sys)
  : executor(sys), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_ < 0)
    throw failure{errc::io_error,
                  std::string{"eventfd: "} + std::strerror(errno)};
}

writer_thread::~writer_thread() {
  ::close(wake_);
}

void writer_thread::start(std::shared_ptr<writer_thread> self,
                          const writer_actor& actor, const std::string& path,
                          const event_sink& report) {
  self->watch_ = std::make_unique<commit_watch>(path, report);
  self->actor_ = actor.address();
  auto& sys = actor.home_system();
  sys.spawn<host, caf::detached + caf::hidden>(std::move(self));
}

void writer_thread::ready(caf::resumable* x) {
  ready_ = x;
  wake();
}

void writer_thread::end() {
  ended_ = true;
  wake();
}

// Either it sees here that the other sleeps, or the other sees in wait() what
// was set before this.
void writer_thread::wake() {
  if (!asleep_)
    return;
  uint64_t one = 1;
  // Cannot fail: the counter is far from its limit.
  [[maybe_unused]] auto n = ::write(wake_, &one, sizeof one);
}

void writer_thread::run(port::enqueue_context* context) {
  sleep_exactly();
  while (!ended_) {
    wait();
    auto x = ready_.exchange(nullptr);
    if (!x)
      continue;
    if (port::resume(x, context, messages_at_once))
      ready_ = x; // nobody else sets it while the actor is not blocked
    watch_->worked(std::chrono::steady_clock::now());
  }
}

void writer_thread::wait() {
  using clock = std::chrono::steady_clock;
  asleep_ = true;
  std::array<pollfd, 2> fds{
    {{wake_, POLLIN, 0}, {watch_->descriptor(), POLLIN, 0}}};
  auto patience = watch_->patience(clock::now());
  if (ready_ || ended_)
    patience = std::chrono::nanoseconds{0};
  auto limit = to_timespec(patience.value_or(std::chrono::nanoseconds{0}));
  ::ppoll(fds.data(), fds.size(), patience ? &limit : nullptr, nullptr);
  asleep_ = false;
  if (fds[0].revents != 0) {
    uint64_t count = 0;
    [[maybe_unused]] auto n = ::read(wake_, &count, sizeof count);
  }
  tell_what_was_seen(watch_->look(fds[1].revents != 0, clock::now()));
}

void writer_thread::tell_what_was_seen(commit_watch::sight x) {
  if (!x.touched && !x.moved)
    return;
  auto writer = caf::actor_cast<writer_actor>(actor_);
  if (!writer)
    return;
  if (x.touched)
    port::send_anonymously(writer, file_touched{});
  if (x.moved)
    port::send_anonymously(writer, file_moved{});
}

} // namespace alkstore
