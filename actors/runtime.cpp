#include "actors/runtime.hpp"

#include "actors/alarm.hpp"
#include "actors/errors.hpp"
#include "actors/outbox_delivery.hpp"
#include "actors/queue_worker.hpp"
#include "actors/registration.hpp"
#include "actors/scheduler_leader.hpp"
#include "actors/stop_reply.hpp"
#include "actors/substrate_reader.hpp"

#include <unistd.h>

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <random>

namespace alkstore {

namespace {

/// What leader and consumers have in common.
using child_actor = port::typed<completed(stop)>;

/// Unique per actor instance: host, process, and random bits, since process
/// numbers come again.
std::string new_instance_id() {
  std::array<char, 64> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::random_device random;
  return std::string{host.data()} + ":" + std::to_string(::getpid()) + ":"
         + std::to_string(random()) + std::to_string(random());
}

/// Refuses names that no actor could work with.
void check(const runtime_options& options) {
  for (auto& x : options.outboxes)
    check_name("outbox", x.name);
  for (auto& x : options.queues) {
    check_name("queue", x.name);
    if (!x.handler)
      check_name("outbox", x.forward_to);
  }
}

/// The store is broken or gone: starting again would not help.
bool is_final(const caf::error& why) {
  switch (code_of(why)) {
    case errc::moved:
    case errc::corrupt:
    case errc::schema_too_new:
    case errc::forked: return true;
    default: return false;
  }
}

class runtime final : public runtime_actor::base {
public:
  runtime(caf::actor_config& cfg, runtime_options options)
    : runtime_actor::base(cfg),
      options_(std::move(options)),
      time_(*options_.store.time) {
    // In the caller's thread, so that what is wrong is thrown to it.
    check(options_);
    register_schedules(options_.store, options_.schedules);
    start_core();
    list_children();
  }

  const char* name() const override { return "runtime"; }

  void on_exit() override {
    for (auto& x : children_)
      kill(x.handle);
    drop_core();
    stopping_.abandon(name());
    children_.clear();
  }

protected:
  behavior_type make_behavior() override {
    watch_core();
    for (auto& x : children_)
      start_child(x);
    return {
      [this](get_store) -> caf::result<store_handles> {
        if (!writer_)
          return make_error(errc::busy, "the store is being opened anew");
        return store_handles{writer_, reader_};
      },
      [this](stop) {
        auto promise = stopping_.promise(this);
        wind_up();
        return promise;
      },
      [this](stop_now) { cut(); },
      [this](restart_due x) {
        if (restart_.due(x))
          restart();
      },
      [this](grace_over x) {
        if (grace_.due(x))
          cut();
      },
    };
  }

private:
  /// When something that died is to be started again.
  struct comeback {
    std::deque<alkstore::steady_time> failures; ///< within the policy's window
    std::optional<alkstore::steady_time> due;   ///< set while it is down
  };

  struct child {
    std::string what;
    std::function<child_actor()> spawn;
    child_actor handle; ///< null while down
    comeback again;
  };

  // -- starting ---------------------------------------------------------------

  void start_core() {
    try {
      writer_ = spawn_writer(system(), options_.store, options_.where);
      reader_ = spawn_reader(system(), options_.store, options_.where);
    } catch (...) {
      drop_core();
      throw;
    }
  }

  void drop_core() {
    kill(writer_);
    kill(reader_);
    writer_ = nullptr;
    reader_ = nullptr;
  }

  void watch_core() {
    watch_one(writer_);
    watch_one(reader_);
  }

  template <class Handle>
  void watch_one(const Handle& x) {
    port::watch(this, x,
                [this](const caf::actor_addr& who, const caf::error& why) {
                  went_down(who, why);
                });
  }

  void list_children() {
    children_.push_back({"scheduler_leader",
                         [this]() -> child_actor {
                           return spawn_leader(
                             system(),
                             {new_instance_id(), options_.lease, &time_,
                              options_.where, options_.store.report},
                             writer_, reader_);
                         },
                         {},
                         {}});
    for (auto& x : options_.outboxes)
      children_.push_back(
        {"outbox_delivery " + x.name,
         [this, x]() -> child_actor {
           return spawn_outbox_delivery(
             system(), consumer_setup(x.name, x.concurrency, x.concurrency),
             x.handler, writer_, reader_);
         },
         {},
         {}});
    for (auto& x : options_.queues)
      children_.push_back(
        {"queue_worker " + x.name,
         [this, x]() -> child_actor {
           auto setup = consumer_setup(x.name, x.concurrency, x.credit);
           if (!x.handler)
             return spawn_queue_forwarder(system(), setup, x.forward_to,
                                          writer_, reader_);
           return spawn_queue_worker(system(), setup, x.handler, writer_,
                                     reader_);
         },
         {},
         {}});
  }

  consumer_options consumer_setup(const std::string& name, int concurrency,
                                  int credit) {
    return {name,   new_instance_id(),    concurrency, credit,
            &time_, options_.store.report};
  }

  void start_child(child& x) {
    if (winding_up_)
      return;
    try {
      x.again.due.reset();
      x.handle = x.spawn();
      watch_one(x.handle);
    } catch (...) {
      failed(x.what, x.again, to_error(std::current_exception()));
    }
  }

  // -- keeping it running -----------------------------------------------------

  void went_down(const caf::actor_addr& who, const caf::error& why) {
    if (closing_ && reader_.address() == who)
      return close_writer();
    if (writer_.address() == who || reader_.address() == who)
      return core_down(why);
    for (auto& x : children_) {
      if (x.handle.address() != who)
        continue;
      x.handle = nullptr;
      if (winding_up_)
        return child_stopped();
      if (code_of(why) == errc::leadership_lost)
        return stand_by_again(x, why);
      if (code_of(why) == errc::failed)
        return handler_died(x, why);
      return failed(x.what, x.again, why);
    }
  }

  // Whatever holds handles of a dead writer or reader starts anew with it.
  void core_down(const caf::error& why) {
    drop_core();
    for (auto& x : children_) {
      kill(x.handle);
      x.handle = nullptr;
      x.again.due.reset(); // not before the store is open again
    }
    if (winding_up_ || is_final(why))
      return end(reason_ ? reason_ : why);
    failed("substrate_writer", core_again_, why);
  }

  void stand_by_again(child& x, const caf::error& why) {
    tell(event::level::warning, "leadership lost", x.what,
         sentence(system(), why));
    std::uniform_int_distribution<int64_t> jitter{0, options_.lease.ttl.count()
                                                       / 10};
    come_back(x.again, millis{jitter(random_)});
  }

  // Not counted as a failure: each time costs a job an attempt, so that it ends
  // by itself, and one bad payload must not end the service.
  void handler_died(child& x, const caf::error& why) {
    tell(event::level::error, "died", x.what,
         sentence(system(), why) + "; started again");
    come_back(x.again, millis{0});
  }

  void failed(const std::string& what, comeback& again, const caf::error& why) {
    auto& policy = options_.restarts;
    auto now = time_.steady_now();
    auto& times = again.failures;
    times.push_back(now);
    while (times.front() <= now - policy.within)
      times.pop_front();
    auto text = sentence(system(), why);
    if (static_cast<int>(times.size()) >= policy.limit) {
      tell(event::level::error, "given up", what, text);
      reason_ = make_error(errc::failed, what + " failed "
                                           + std::to_string(times.size())
                                           + " times: " + text);
      return wind_up();
    }
    auto pause = policy.first;
    for (size_t i = 1; i < times.size(); ++i)
      pause = std::min(pause * 2, policy.cap);
    tell(event::level::error, "died", what,
         text + "; started again in " + std::to_string(pause.count()) + " ms");
    come_back(again, pause);
  }

  void come_back(comeback& again, millis after) {
    again.due = time_.steady_now() + after;
    arm_restart();
  }

  void arm_restart() {
    auto soonest = core_again_.due;
    for (auto& x : children_)
      if (x.again.due && (!soonest || *x.again.due < *soonest))
        soonest = x.again.due;
    if (soonest)
      restart_.set(this, *soonest - time_.steady_now());
  }

  void restart() {
    if (winding_up_)
      return;
    auto now = time_.steady_now();
    if (core_again_.due && *core_again_.due <= now)
      restart_core();
    if (!writer_)
      return arm_restart();
    for (auto& x : children_)
      if (x.again.due && *x.again.due <= now)
        start_child(x);
    arm_restart();
  }

  void restart_core() {
    try {
      core_again_.due.reset();
      start_core();
      watch_core();
      for (auto& x : children_)
        x.again.due = time_.steady_now();
    } catch (...) {
      auto why = to_error(std::current_exception());
      if (is_final(why))
        return end(why);
      failed("substrate_writer", core_again_, why);
    }
  }

  // -- ending -----------------------------------------------------------------

  void wind_up() {
    if (winding_up_)
      return;
    winding_up_ = true;
    restart_.cancel();
    grace_.set(this, options_.stop_grace);
    for (auto& x : children_) // each one's end is seen as it goes down
      if (x.handle)
        port::send_anonymously(x.handle, stop{});
    child_stopped();
  }

  void child_stopped() {
    for (auto& x : children_)
      if (x.handle)
        return;
    close_store();
  }

  void cut() {
    if (!winding_up_)
      wind_up();
    for (auto& x : children_) {
      if (!x.handle)
        continue;
      tell(event::level::warning, "cut", x.what, "it was still at work");
      kill(x.handle);
    }
  }

  void close_store() {
    grace_.cancel();
    if (!writer_)
      return end(reason_);
    if (std::exchange(closing_, true))
      return;
    kill(
      reader_); // its end is seen, and the writer closes the file as the last
  }

  void close_writer() {
    port::ask(this, caf::infinite, writer_, stop{})
      .then([this](completed) { end(reason_); },
            [this](const caf::error& why) { end(reason_ ? reason_ : why); });
  }

  void end(const caf::error& why) {
    stopping_.deliver();
    if (why)
      quit(why);
    else
      quit();
  }

  template <class Handle>
  static void kill(const Handle& x) {
    if (x)
      caf::anon_send_exit(x, caf::exit_reason::kill);
  }

  void tell(event::level severity, std::string what, std::string who,
            std::string text) {
    event x;
    x.severity = severity;
    x.what = std::move(what);
    x.name = std::move(who);
    x.text = std::move(text);
    options_.store.report(x);
  }

  runtime_options options_;
  const alkstore::clock& time_;

  writer_actor writer_; ///< null, like the next, while the store is closed
  reader_actor reader_;
  comeback core_again_;
  std::vector<child> children_;

  bool winding_up_ = false;
  bool closing_ = false;
  caf::error reason_; ///< to end with; none for normal
  stop_reply stopping_;

  std::minstd_rand random_{std::random_device{}()};
  alarm<restart_due> restart_;
  alarm<grace_over> grace_;
};

} // namespace

runtime_actor start(caf::actor_system& sys, runtime_options options) {
  if (options.where == placement::pooled)
    return sys.spawn<runtime>(std::move(options));
  return sys.spawn<runtime, caf::detached>(std::move(options));
}

} // namespace alkstore
