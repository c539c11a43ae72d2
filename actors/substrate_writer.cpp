#include "actors/substrate_writer.hpp"

#include "actors/alarm.hpp"
#include "actors/stop_reply.hpp"
#include "actors/write_line.hpp"

#include <random>

namespace alkstore {

namespace {

using std::chrono::microseconds;

// Between two batches while another connection is writing, too (measured: the
// neighbour's worst wait falls from 2.9 s to 10 ms).
constexpr microseconds neighbour_pause{500};
constexpr millis neighbour_memory{1000};

// From 1,000 pages on the WAL is written back (SQLite's own default; larger
// was measured slower at FULL: a small WAL is overwritten in place).
constexpr int checkpoint_pages = 1000;

constexpr millis file_check_period{2000};

// A wall-clock time is slept for in pieces: the steady clock stands still while
// the machine is suspended.
constexpr millis longest_sleep{5000};

// How long others' reads are waited for to make the WAL small again.
constexpr millis truncate_patience{100};

// After a store fault, for what no sender will ask for again.
constexpr millis try_again{1000};

// How another connection's commit is waited for: docs/wake-up.md.
constexpr microseconds first_look{30};
constexpr microseconds last_look{50'000};
constexpr millis look_for{5000};

// A caller's function that threw or took too long: no fault of the store.
bool is_senders_own(const write_line::batch& ran, errc code) {
  return ran.size() == 1 && ran.front()->alone()
         && (code == errc::failed || code == errc::invalid_argument
             || code == errc::busy);
}

class substrate_writer final : public writer_actor::base {
public:
  substrate_writer(caf::actor_config& cfg, writer_options options)
    : writer_actor::base(cfg),
      options_(std::move(options)),
      time_(*options_.time),
      gate_(options_.waiting) {
    open_file();
    if (db_->in_public_directory())
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
    if (port::peek<file_touched>(*x) && touched_.exchange(true))
      return port::enqueue_result(); // one in the mailbox is enough
    return writer_actor::base::enqueue(std::move(x), context);
  }

  void on_exit() override {
    line_.refuse_all(make_error(errc::shutting_down, "the writer has ended"));
    closing_.abandon(name());
    standing_ = {};
    leader_ = nullptr;
    db_.reset();
  }

protected:
  behavior_type make_behavior() override;

private:
  enum class outcome : uint8_t { written, locked, failed };

  /// Puts the message's operation in line and promises its result.
  template <class Message>
  auto accept(Message& x, bool alone = false) {
    auto op = make_operation(x, alone);
    auto promise = op.second;
    if (op.first)
      line_.push_back(std::move(op.first));
    if (!flush_.is_set())
      flush_.set_now(this);
    return promise;
  }

  template <class Message>
  auto make_operation(Message& x, bool alone) {
    using reply = typename operation_of<Message>::reply;
    auto promise = make_response_promise<reply>();
    place in_line{gate_, admission::of_message(x)};
    std::unique_ptr<operation> op;
    if (closing_)
      promise.deliver(make_error(errc::shutting_down, "the store is closing"));
    else
      op = std::make_unique<operation_of<Message>>(
        std::move(x), promise, std::move(in_line), alone, time_.steady_now());
    return std::pair{std::move(op), promise};
  }

  // -- writing ----------------------------------------------------------------

  caf::result<completed> take(const grant& x);
  void flush();
  outcome write_batch();
  void after_commit();
  void sleep_until_claimable();
  void look_for_claims_at(timestamp when);
  void lock_is_busy();
  void write_failed(const failure& why);
  void give_up(const failure& why);
  void finish_stop();
  void tell(event::level severity, std::string what, std::string text);

  // -- the file ---------------------------------------------------------------

  void open_file();
  bool see_others();
  void look();
  void check();
  void truncate_wal();

  writer_options options_;
  const alkstore::clock& time_;

  /// Used by the senders' threads, too: the bound on what waits, and whether a
  /// file_touched is in the mailbox.
  admission gate_;
  std::atomic<bool> touched_{false};

  std::unique_ptr<connection> db_;         ///< null once it has ended
  int64_t version_ = 0;                    ///< data_version as last seen
  alkstore::steady_time neighbour_seen_{}; ///< another connection's last commit
  int faults_ = 0;                         ///< of the disk, in a row
  int checkpoint_at_ = checkpoint_pages;
  bool wal_is_large_ = false; ///< as far as has been said

  write_line line_;
  standing_claims standing_;
  effects seen_{standing_, options_.transact_limit, options_.retention};
  leader_actor leader_; ///< hears of changes; may be null
  stop_reply closing_;

  alarm<flush_batch> flush_;
  alarm<look_again> look_;
  alarm<claims_due> claims_;
  timestamp claims_at_{}; ///< what it is set for, or later
  alarm<check_file> file_;
  microseconds next_look_ = first_look;
  alkstore::steady_time looking_since_{};
  std::minstd_rand random_{std::random_device{}()};
};

substrate_writer::behavior_type substrate_writer::make_behavior() {
  file_.set(this, file_check_period);
  return {
    [this](alkstore::enqueue& x) { return accept(x); },
    [this](enqueue_many& x) { return accept(x); },
    [this](outbox_enqueue& x) { return accept(x); },
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
      auto [op, promise] = make_operation(x, true);
      if (op) {
        line_.push_front(std::move(op));
        write_batch();
      }
      return promise;
    },
    [this](release_leadership& x) { return accept(x); },
    [this](maintain& x) { return accept(x, true); },
    [this](subscribe& x) { leader_ = std::move(x.leader); },
    [this](file_touched) {
      touched_ = false;
      looking_since_ = time_.steady_now();
      next_look_ = first_look;
      if (line_.empty()) // else the next batch looks in passing
        look();
    },
    [this](file_moved) { check(); },
    [this](stop) {
      auto promise = closing_.promise(this);
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
      if (!file_.due(x))
        return;
      file_.set(this, file_check_period);
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
  try {
    standing_.set(x);
  } catch (const failure& why) {
    return make_error(why.code(), why.what());
  }
  port::watch(this, x.consumer,
              [this](const caf::actor_addr& who, const caf::error&) {
                standing_.drop(who);
              });
  if (!flush_.is_set())
    flush_.set_now(this);
  return completed{};
}

void substrate_writer::flush() {
  if (db_ && (!line_.empty() || standing_.wants_claims()))
    write_batch();
  if (!db_)
    return;
  if (line_.empty() && closing_)
    return finish_stop();
  // What arrives until the next message comes up shares its transaction.
  if (line_.empty() || flush_.is_set())
    return;
  if (time_.steady_now() - neighbour_seen_ < neighbour_memory)
    flush_.set(this, neighbour_pause);
  else
    flush_.set_now(this);
}

substrate_writer::outcome substrate_writer::write_batch() {
  write_line::batch ran;
  try {
    std::optional<transaction> tx;
    try {
      tx.emplace(*db_);
    } catch (const failure& why) {
      if (why.code() != errc::busy)
        throw;
      lock_is_busy();
      return outcome::locked;
    }
    see_others();
    line_.run_batch(*tx, seen_, ran);
    standing_.claim(*tx);
    tx->commit();
  } catch (...) {
    auto error = to_error(std::current_exception());
    for (auto& op : ran)
      op->refuse(error);
    if (ran.empty()) { // and so it would be at once again
      line_.refuse_older(time_.steady_now() - options_.busy_timeout, error);
      if (!line_.empty() && !flush_.is_set())
        flush_.set(this, try_again);
    }
    standing_.take_back();
    if (!is_senders_own(ran, code_of(error)))
      write_failed({code_of(error), sentence(system(), error)});
    else if (standing_.wants_claims() && !flush_.is_set())
      flush_.set_now(this);
    return outcome::failed;
  }
  faults_ = 0;
  for (auto& op : ran)
    op->answer();
  after_commit();
  return outcome::written;
}

void substrate_writer::after_commit() {
  standing_.hand_out(this);
  if (std::exchange(seen_.scheduler_concerned, false) && leader_)
    port::send(this, leader_, store_changed{});
  sleep_until_claimable();
  if (db_->wal_pages() < checkpoint_at_)
    return;
  try {
    // A reader can hold pages back: then the next try waits for more of them.
    auto left = db_->checkpoint(connection::checkpoint_mode::passive);
    checkpoint_at_ = left + checkpoint_pages;
  } catch (const failure& why) {
    write_failed(why);
  }
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
  auto pause = std::uniform_int_distribution<int>{200, 800}(random_);
  flush_.set(this, microseconds{pause});
}

void substrate_writer::write_failed(const failure& why) {
  tell(event::level::error, "store fault", why.what());
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
        open_file();
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
  db_.reset();
  quit(error);
}

void substrate_writer::finish_stop() {
  try {
    db_->checkpoint(connection::checkpoint_mode::truncate);
  } catch (const failure& why) {
    // The WAL stays and is read at the next start: nothing is lost.
    tell(event::level::warning, "checkpoint failed", why.what());
  }
  db_.reset();
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

void substrate_writer::open_file() {
  db_.reset();
  db_ = std::make_unique<connection>(options_.path, options_.open, time_);
  db_->wait_for_lock(millis{0}); // messages are taken while the lock is not
  version_ = db_->data_version();
  // What others committed since the file was last looked at is in no version.
  standing_.touch_all();
  seen_.scheduler_concerned = true;
}

bool substrate_writer::see_others() {
  auto now = db_->data_version();
  if (std::exchange(version_, now) == now)
    return false;
  neighbour_seen_ = time_.steady_now();
  standing_.touch_all();
  if (leader_)
    port::send(this, leader_, store_changed{});
  return true;
}

void substrate_writer::look() {
  if (!db_)
    return;
  auto came = write_batch();
  if (came == outcome::failed && db_)
    look_.set(this, try_again);
  if (came != outcome::locked)
    return;
  try {
    if (see_others())
      return lock_is_busy(); // its flush does the rest
  } catch (const failure& why) {
    return write_failed(why);
  }
  if (time_.steady_now() - looking_since_ >= look_for)
    return;
  look_.set(this, next_look_);
  next_look_ = std::min(next_look_ * 2, last_look);
}

void substrate_writer::check() {
  if (!db_)
    return;
  if (db_->still_there())
    return truncate_wal();
  give_up({errc::moved, "database " + options_.path
                          + ": the path, or its WAL, no longer names the file "
                            "that is open"});
}

void substrate_writer::truncate_wal() {
  auto large = [this] { return db_->wal_bytes() > options_.wal_limit; };
  if (large()) {
    try {
      db_->wait_for_lock(truncate_patience);
      db_->checkpoint(connection::checkpoint_mode::truncate);
    } catch (const failure& why) {
      db_->wait_for_lock(millis{0});
      return write_failed(why);
    }
    db_->wait_for_lock(millis{0});
  }
  // A reader that keeps its snapshot can hold the WAL back for long: said once.
  if (std::exchange(wal_is_large_, large()) || !wal_is_large_)
    return;
  tell(event::level::warning, "large WAL",
       options_.path + "-wal has " + std::to_string(db_->wal_bytes())
         + " bytes; a reader keeps it from being written back");
}

} // namespace

writer_actor spawn_writer(caf::actor_system& sys, writer_options options,
                          placement where) {
  if (where == placement::pooled)
    return sys.spawn<substrate_writer>(std::move(options));
  return sys.spawn<substrate_writer, caf::detached>(std::move(options));
}

} // namespace alkstore
