#include "actors/substrate_writer.hpp"

#include "actors/alarm.hpp"
#include "actors/fault_log.hpp"
#include "actors/neighbours.hpp"
#include "actors/stop_reply.hpp"
#include "actors/store_file.hpp"
#include "actors/write_line.hpp"
#include "actors/writer_thread.hpp"

#include <thread>

namespace alkstore {

namespace {

using std::chrono::microseconds;

constexpr millis file_check_period{2000};

// A wall-clock time is slept for in pieces: the steady clock stands still while
// the machine is suspended.
constexpr millis longest_sleep{5000};

// After a store fault, for what no sender will ask for again.
constexpr millis try_again{1000};

// How another connection's commit is waited for: docs/wake-up.md.
constexpr int looks_in_place = 16;
constexpr microseconds pause_in_place{20};

// Lets others have the processor for so long, but does not let it sleep.
void yield_for(microseconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  do
    std::this_thread::yield();
  while (std::chrono::steady_clock::now() < end);
}

// A caller's function that threw or took too long: no fault of the store.
bool is_senders_own(const write_line::batch& ran, errc code) {
  return ran.size() == 1 && ran.front()->alone()
         && (code == errc::failed || code == errc::invalid_argument
             || code == errc::busy);
}

class substrate_writer final : public writer_actor::base {
public:
  // Without a thread of its own it runs in CAF's pool.
  substrate_writer(caf::actor_config& cfg, writer_options options,
                   std::shared_ptr<writer_thread> thread)
    : writer_actor::base(cfg),
      options_(std::move(options)),
      thread_(std::move(thread)),
      time_(*options_.time),
      gate_(options_.waiting),
      file_(options_) {
    look_for_everything();
    if (file_.db().in_public_directory())
      tell(event::level::warning, "public directory",
           options_.path + ": every user can write to its directory");
  }

  const char* name() const override { return "substrate_writer"; }

  // Runs in the senders' threads.
  port::enqueue_result enqueue(caf::mailbox_element_ptr x,
                               port::enqueue_context* context) override {
    auto weight = admission::of(*x);
    if (weight.operations > 0 && !gate_.enter(weight)) {
      port::bounce(
        *x, make_error(errc::overloaded, "too much is waiting for the writer"),
        context);
      return port::enqueue_result();
    }
    return writer_actor::base::enqueue(std::move(x),
                                       thread_ ? thread_.get() : context);
  }

  void on_exit() override {
    auto ended = make_error(errc::shutting_down, "the writer has ended");
    for (auto& op : std::exchange(ran_, {}))
      op->refuse(ended);
    line_.refuse_all(ended);
    closing_.abandon(name());
    standing_ = {};
    leader_ = nullptr;
    tx_.reset();
    file_.close();
    if (thread_)
      thread_->end();
  }

protected:
  behavior_type make_behavior() override;

private:
  enum class outcome : uint8_t { written, locked, failed };

  template <class Message>
  using answer_to = caf::delegated<typename operation_of<Message>::reply>;

  /// Puts the message's operation in line, which answers the sender.
  template <class Message>
  answer_to<Message> accept(Message& x, bool alone = false) {
    if (auto op = make_operation(x, alone))
      line_.push_back(std::move(op));
    came();
    return {};
  }

  /// The same; enqueues share one.
  template <class Message>
  caf::delegated<int64_t> accept_enqueue(Message& x) {
    if (auto sender = sender_of<int64_t>(x))
      line_.last_group(time_.steady_now())
        .add(std::move(x), std::move(*sender));
    came();
    return {};
  }

  /// Null if the sender has been answered already.
  template <class Message>
  std::unique_ptr<operation> make_operation(Message& x, bool alone) {
    auto sender = sender_of<typename operation_of<Message>::reply>(x);
    if (!sender)
      return nullptr;
    return std::make_unique<operation_of<Message>>(
      std::move(x), std::move(*sender), alone, time_.steady_now());
  }

  /// None if the store is closing: then the sender has been told.
  template <class Reply, class Message>
  std::optional<asker<Reply>> sender_of(const Message& x) {
    asker<Reply> out{make_response_promise<Reply>(),
                     place{gate_, admission::of_message(x)}};
    if (!closing_)
      return out;
    out.tell(make_error(errc::shutting_down, "the store is closing"));
    return std::nullopt;
  }

  // -- writing ----------------------------------------------------------------

  caf::result<completed> take(const grant& x);

  void flush_soon() {
    if (!flush_.is_set())
      flush_.set_now(this);
  }

  /// Something is in line. Where nothing else is coming, a message to itself
  /// would only cost time.
  void came() {
    if (lone_ && !flush_.is_set() && mailbox().empty())
      flush();
    else
      flush_soon();
  }

  void flush();
  outcome write_batch();
  outcome run_line();
  outcome end_batch();
  void end_open_batch() {
    if (tx_)
      end_batch();
  }
  outcome batch_failed(const caf::error& why);
  void after_commit();
  void tell_leader();
  void sleep_until_claimable();
  void look_for_claims_at(timestamp when);
  void lock_is_busy();
  void write_failed(const failure& why);
  void give_up(const failure& why);
  void finish_stop();
  void tell(event::level severity, std::string what, std::string text);

  // -- the file ---------------------------------------------------------------

  void look_for_everything();
  bool see_others(int64_t data_version);
  outcome look_in_place();
  void look();
  void check();

  writer_options options_;
  std::shared_ptr<writer_thread> thread_; ///< may be null
  const alkstore::clock& time_;

  admission gate_; ///< used by the senders' threads, too

  store_file file_; ///< closed once it has ended
  neighbours neighbours_;
  int faults_ = 0; ///< of the disk, in a row
  fault_log fault_log_{name(), time_, options_.report};

  write_line line_;
  std::unique_ptr<transaction> tx_; ///< open while a batch waits for more of it
  write_line::batch ran_; ///< in it, to be answered once it is on disk
  bool lone_ = true;      ///< the last batch had one request at most
  standing_claims standing_;
  effects seen_{standing_, options_.transact_limit, options_.retention};
  leader_actor leader_; ///< hears of changes; may be null
  stop_reply closing_;

  alarm<flush_batch> flush_;
  alarm<look_again> look_;
  alarm<claims_due> claims_;
  timestamp claims_at_{}; ///< what it is set for, or later
  alarm<check_file> check_;
};

substrate_writer::behavior_type substrate_writer::make_behavior() {
  check_.set(this, file_check_period);
  return {
    [this](alkstore::enqueue& x) { return accept_enqueue(x); },
    [this](enqueue_many& x) { return accept(x); },
    [this](outbox_enqueue& x) { return accept_enqueue(x); },
    [this](claim_jobs& x) { return accept(x); },
    [this](ack& x) { return accept(x); },
    [this](retry& x) { return accept(x); },
    [this](fail& x) { return accept(x); },
    [this](release& x) { return accept(x); },
    [this](heartbeat& x) { return accept(x); },
    [this](cancel_job& x) { return accept(x); },
    [this](requeue_dead& x) { return accept(x); },
    [this](delete_dead& x) { return accept(x); },
    [this](add_schedule& x) { return accept(x); },
    [this](remove_schedule& x) { return accept(x); },
    [this](pause_schedule& x) { return accept(x); },
    [this](resume_schedule& x) { return accept(x); },
    [this](acquire_lock& x) { return accept(x); },
    [this](renew_lock& x) { return accept(x); },
    [this](release_lock& x) { return accept(x); },
    [this](transact_request& x) { return accept(x, true); },
    [this](grant& x) { return take(x); },
    [this](settle& x) { return accept(x); },
    [this](tick& x) { return accept(x, true); },
    [this](campaign& x) { return accept(x); },
    [this](renew_leadership& x) {
      end_open_batch();
      if (auto op = make_operation(x, true)) {
        line_.push_front(std::move(op));
        if (file_.is_open())
          write_batch();
      }
      return answer_to<renew_leadership>{};
    },
    [this](release_leadership& x) { return accept(x); },
    [this](maintain& x) { return accept(x, true); },
    [this](subscribe& x) { leader_ = std::move(x.leader); },
    [this](file_touched) {
      neighbours_.begun(time_.steady_now());
      if (line_.empty()) // else the next batch looks in passing
        look();
    },
    [this](file_moved) { check(); },
    [this](stop) {
      auto promise = closing_.promise(this);
      end_open_batch();
      standing_ = {}; // no new claims
      flush();
      return promise;
    },
    [this](flush_batch x) {
      if (flush_.due(x))
        flush();
    },
    [this](look_again x) {
      if (look_.due(x))
        look();
    },
    [this](claims_due x) {
      if (!claims_.due(x))
        return;
      standing_.touch_due(time_.wall_now());
      if (standing_.wants_claims())
        flush();
      else
        sleep_until_claimable();
    },
    [this](check_file x) {
      if (!check_.due(x))
        return;
      check_.set(this, file_check_period);
      check();
    },
  };
}

// -- writing ------------------------------------------------------------------

// Nothing of it is stored, so it needs no transaction: what was claimed under
// the old credit was sent before this answer.
caf::result<completed> substrate_writer::take(const grant& x) {
  if (closing_)
    return make_error(errc::shutting_down, "the store is closing");
  end_open_batch();
  try {
    standing_.set(x);
  } catch (const failure& why) {
    return make_error(why.code(), why.what());
  }
  port::watch(this, x.consumer,
              [this](const caf::actor_addr& who, const caf::error&) {
                standing_.drop(who);
              });
  flush_soon();
  return completed{};
}

void substrate_writer::flush() {
  if (file_.is_open() && (tx_ || !line_.empty() || standing_.wants_claims())) {
    auto waited = tx_ != nullptr;
    if (run_line() == outcome::written) {
      // Several senders are at work: what they have sent meanwhile, or send
      // next, shares the transaction. Nobody else must want the lock.
      auto alone = !neighbours_.at_work(time_.steady_now());
      if (!waited && alone && line_.empty() && write_line::size_of(ran_) > 1)
        return flush_.set_now(this);
      end_batch();
    }
  }
  if (!file_.is_open())
    return;
  if (line_.empty() && closing_)
    return finish_stop();
  // What arrives until the next message comes up shares its transaction.
  if (line_.empty() || flush_.is_set())
    return;
  if (neighbours_.at_work(time_.steady_now()))
    flush_.set(this, neighbours::pause);
  else
    flush_.set_now(this);
}

substrate_writer::outcome substrate_writer::write_batch() {
  auto came = run_line();
  return came == outcome::written ? end_batch() : came;
}

substrate_writer::outcome substrate_writer::run_line() {
  try {
    if (!tx_) {
      tx_ = transaction::if_free(file_.db());
      if (!tx_) {
        lock_is_busy();
        return outcome::locked;
      }
      see_others(tx_->data_version());
      if (thread_)
        thread_->has_looked();
    }
    line_.run_batch(*tx_, seen_, ran_);
    return outcome::written;
  } catch (...) {
    return batch_failed(to_error(std::current_exception()));
  }
}

substrate_writer::outcome substrate_writer::end_batch() {
  try {
    standing_.claim(*tx_);
    tx_->commit();
    tx_.reset();
  } catch (...) {
    return batch_failed(to_error(std::current_exception()));
  }
  faults_ = 0;
  lone_ = write_line::size_of(ran_) <= 1;
  standing_.hand_out(this); // before the answers: it has farther to go
  auto ran = std::exchange(ran_, {});
  for (auto& op : ran)
    op->answer();
  if (lone_ && thread_)
    std::this_thread::yield(); // they may wait for this processor
  after_commit();
  return outcome::written;
}

substrate_writer::outcome
substrate_writer::batch_failed(const caf::error& why) {
  tx_.reset(); // rolls back
  auto ran = std::exchange(ran_, {});
  for (auto& op : ran)
    op->refuse(why);
  if (ran.empty()) { // and so it would be at once again
    line_.refuse_older(time_.steady_now() - options_.busy_timeout, why);
    if (!line_.empty() && !flush_.is_set())
      flush_.set(this, try_again);
  }
  standing_.take_back();
  if (!is_senders_own(ran, code_of(why)))
    write_failed({code_of(why), sentence(system(), why)});
  else if (standing_.wants_claims())
    flush_soon();
  return outcome::failed;
}

void substrate_writer::after_commit() {
  tell_leader();
  sleep_until_claimable();
  try {
    file_.write_back();
  } catch (const failure& why) {
    write_failed(why);
  }
}

// After the commit: the leader's questions would compete with it.
void substrate_writer::tell_leader() {
  if (std::exchange(seen_.scheduler_concerned, false) && leader_)
    port::send(this, leader_, store_changed{});
}

void substrate_writer::sleep_until_claimable() {
  if (auto next = standing_.next())
    look_for_claims_at(*next);
}

// Waking too early costs nothing, and each setting is a message on its way.
void substrate_writer::look_for_claims_at(timestamp when) {
  if (claims_.is_set() && claims_at_ <= when)
    return;
  claims_at_ = when;
  claims_.set(this, std::min<millis>(when - time_.wall_now(), longest_sleep));
}

void substrate_writer::lock_is_busy() {
  line_.refuse_older(time_.steady_now() - options_.busy_timeout,
                     make_error(errc::busy,
                                "another connection held the write lock for "
                                "longer than busy-timeout; nothing happened"));
  if (flush_.is_set() || (line_.empty() && !standing_.wants_claims()))
    return;
  flush_.set(this, neighbours_.until_next_try());
}

void substrate_writer::write_failed(const failure& why) {
  fault_log_.add(why.what());
  switch (why.code()) {
    case errc::corrupt:
    case errc::schema_too_new:
    case errc::moved:
    case errc::forked: return give_up(why);
    case errc::io_error:
      if (++faults_ > 1)
        return give_up(why);
      [[fallthrough]];
    case errc::out_of_memory:
    case errc::invalid_argument:
      // A rollback that found no memory has left a transaction and its lock
      // behind, which closing the file ends without any.
      try {
        file_.reopen();
        look_for_everything();
      } catch (const failure& again) {
        return give_up(again);
      }
      break;
    default: break;
  }
  look_for_claims_at(time_.wall_now() + try_again);
}

void substrate_writer::give_up(const failure& why) {
  auto error = make_error(why.code(), why.what());
  line_.refuse_all(error);
  file_.close();
  quit(error);
}

void substrate_writer::finish_stop() {
  try {
    file_.empty_wal();
  } catch (const failure& why) {
    // The WAL stays and is read at the next start: nothing is lost.
    tell(event::level::warning, "checkpoint failed", why.what());
  }
  file_.close();
  closing_.deliver();
  quit();
}

void substrate_writer::tell(event::level severity, std::string what,
                            std::string text) {
  event x;
  x.severity = severity;
  x.what = std::move(what);
  x.name = name();
  x.text = std::move(text);
  options_.report(x);
}

// -- the file -----------------------------------------------------------------

// What others committed before the file was opened is in no version.
void substrate_writer::look_for_everything() {
  standing_.touch_all();
  seen_.scheduler_concerned = true;
}

bool substrate_writer::see_others(int64_t data_version) {
  if (!file_.others_committed(data_version))
    return false;
  neighbours_.seen(time_.steady_now());
  look_for_everything();
  return true;
}

// One commit alone is waited for awake: a processor that has gone to sleep
// takes as long to come back as the commit had left. For one of many that would
// be a waste.
substrate_writer::outcome substrate_writer::look_in_place() {
  auto awake = !neighbours_.busy(time_.steady_now());
  auto came = outcome::locked;
  for (int i = 0; i < looks_in_place && came == outcome::locked; ++i) {
    if (awake)
      yield_for(pause_in_place);
    else
      std::this_thread::sleep_for(pause_in_place);
    came = write_batch();
  }
  return came;
}

void substrate_writer::look() {
  if (!file_.is_open() || tx_) // nobody can have committed since it began
    return;
  auto came = write_batch();
  // Most likely the other is in the middle of its commit, which takes less time
  // than a timer.
  if (came == outcome::locked && thread_)
    came = look_in_place();
  if (came == outcome::failed && file_.is_open())
    look_.set(this, try_again);
  if (came != outcome::locked)
    return;
  try {
    if (see_others(file_.db().data_version())) {
      tell_leader();
      return lock_is_busy(); // its flush does the rest
    }
  } catch (const failure& why) {
    return write_failed(why);
  }
  if (auto next = neighbours_.next_look(time_.steady_now()))
    look_.set(this, *next);
}

void substrate_writer::check() {
  end_open_batch();
  if (!file_.is_open())
    return;
  if (!file_.still_there())
    return give_up(
      {errc::moved, "database " + options_.path
                      + ": the path, or its WAL, no longer names the file "
                        "that is open"});
  try {
    if (auto text = file_.shrink_wal(); !text.empty())
      tell(event::level::warning, "large WAL", text);
  } catch (const failure& why) {
    write_failed(why);
  }
}

} // namespace

writer_actor spawn_writer(caf::actor_system& sys, writer_options options,
                          placement where) {
  if (where == placement::pooled)
    return sys.spawn<substrate_writer>(std::move(options), nullptr);
  auto thread = std::make_shared<writer_thread>(sys);
  auto writer = port::spawn_on<substrate_writer>(sys, *thread, options, thread);
  writer_thread::start(std::move(thread), writer, options.path, options.report);
  return writer;
}

} // namespace alkstore
