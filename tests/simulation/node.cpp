#include "tests/simulation/node.hpp"

#include "tests/simulation/client.hpp"
#include "tests/simulation/world.hpp"

#include <algorithm>
#include <string_view>

namespace alkstore::sim {

using namespace std::chrono_literals;

namespace {

class config : public caf::actor_system_config {
public:
  config() {
    port::init_messages<caf::id_block::alkstore>();
    port::register_types<caf::id_block::alkstore, errc>(*this);
    set("scheduler.policy", caf::atom("testing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

// Serves every system: it costs more than one of them.
caf::actor_system_config& the_config() {
  static config instance;
  return instance;
}

const char* name_of(const caf::resumable* x) {
  auto actor = dynamic_cast<const caf::local_actor*>(x);
  return actor ? actor->name() : "nobody";
}

bool is_writer(const caf::resumable* x) {
  return std::string_view{name_of(x)} == "substrate_writer";
}

} // namespace

node::node(world& outside, int number)
  : outside_(outside),
    number_(number),
    name_("node " + std::to_string(number)),
    desk_(outside, *this) {}

node::~node() {
  if (is_up())
    crash();
}

// -- starting and ending ------------------------------------------------------

void node::start() {
  auto& here = outside_.here;
  process_ = outside_.new_process();
  name_ = "node " + std::to_string(number_) + " (" + std::to_string(process_)
          + ")";
  outside_.notes.note(name_ + " starts");
  running as{here, process_};
  time_ = std::make_unique<process_clock>(
    here, millis{outside_.luck.between(-100'000, 100'000)});
  stalled_until_ = writer_stalled_until_ = 0ns;
  ended_ = false;
  doomed_after_ = 0;
  caught_up_ = here.uptime();
  sys_ = std::make_unique<caf::actor_system>(the_config());
  jobs_ = &dynamic_cast<caf::scheduler::test_coordinator&>(sys_->scheduler());
  try {
    runtime_ = alkstore::start(*sys_, options());
    port::when_ended(runtime_, [this](const caf::error& why) {
      ended_ = true;
      outside_.notes.note(name_ + " ended: " + port::text(*sys_, why));
    });
    client_ = sys_->spawn<client>(outside_, *this);
  } catch (const failure& why) {
    outside_.notes.note(name_ + " cannot start: " + why.what());
    tear_down();
  }
}

void node::crash() {
  outside_.notes.note(name_ + " crashes");
  outside_.files.kill(process_);
  tear_down();
}

void node::stop() {
  outside_.notes.note(name_ + " is stopped");
  running as{outside_.here, process_};
  port::send_anonymously(runtime_, alkstore::stop{});
}

void node::tear_down() {
  running as{outside_.here, process_};
  for (auto& victim : {caf::actor_cast<caf::actor>(runtime_), client_})
    if (victim)
      caf::anon_send_exit(victim, caf::exit_reason::kill);
  outside_.plans.forget(process_);
  runtime_ = nullptr;
  client_ = nullptr;
  handles_ = {};
  desk_.clear();
  while (jobs_->try_run_once())
    ;
  auto left = sys_->registry().running();
  if (left == 0)
    sys_.reset();
  else
    static_cast<void>(sys_.release()); // its destructor would wait for ever
  outside_.judge([&] {
    if (left != 0)
      throw violation{name_ + ": " + std::to_string(left)
                      + " actors have outlived their runtime"};
  });
}

runtime_options node::options() {
  auto& luck = outside_.luck;
  runtime_options out;
  out.store.path = outside_.path();
  out.store.open.sync = durability::normal;
  // Nobody gives a lock back while this one waits: in one thread, in vain.
  out.store.open.busy_timeout = 20ms;
  out.store.open.rules.dedupe_for = world::dedupe_for;
  out.store.retention = world::retention;
  out.store.wal_limit = 256 * 1024;
  if (luck.one_in(4))
    out.store.waiting.operations = 4;
  out.store.time = time_.get();
  out.store.report = [this](const event& x) { report(x); };
  out.lease = {3s, 1s};
  out.schedules = {{"s0", "@every 1s", "work", "s0", {}},
                   {"s1", "@every 5s", "chain", "s1", {}}};
  out.queues.push_back(
    {"work", desk_.handler(), {}, 2, static_cast<int>(luck.between(2, 8))});
  out.queues.push_back({"chain", {}, "out"});
  out.outboxes.push_back({"out", desk_.handler(), 3});
  out.where = placement::pooled;
  return out;
}

// What is reported as counted has to be in the file.
void node::report(const event& x) {
  if (outside_.files.is_dead(process_))
    return;
  outside_.notes.note(name_ + " reports " + x.what + " " + x.name + " "
                      + std::to_string(x.job) + " " + x.text);
  outside_.judge([&] {
    using wish = oracle::wish;
    if (x.what == "delivered" || x.what == "forwarded")
      outside_.rules.done(wish::ack, x.job);
  });
}

// -- running ------------------------------------------------------------------

bool node::run_one() {
  auto& here = outside_.here;
  auto& jobs = jobs_->jobs;
  if (jobs.empty() || here.uptime() < stalled_until_)
    return false;
  auto n = outside_.luck.below(jobs.size());
  auto picked = jobs.begin() + static_cast<std::ptrdiff_t>(n);
  if (here.uptime() < writer_stalled_until_ && is_writer(*picked)) {
    picked = std::find_if_not(jobs.begin(), jobs.end(), is_writer);
    if (picked == jobs.end())
      return false;
  }
  std::rotate(jobs.begin(), picked, picked + 1);
  running as{here, process_};
  outside_.judge([&] { outside_.notes.step(process_, name_of(jobs.front())); });
  jobs_->run_once();
  if (doomed_after_ > 0 && --doomed_after_ == 0)
    outside_.files.kill(process_);
  else if (ended_)
    tear_down();
  return true;
}

void node::catch_up() {
  auto passed = outside_.here.uptime() - caught_up_;
  caught_up_ += passed;
  if (passed > 0ns)
    jobs_->advance_time(passed);
}

std::optional<nanos> node::next_timer() {
  auto& clock = jobs_->clock();
  if (clock.schedule().empty())
    return std::nullopt;
  auto left = clock.schedule().begin()->first - clock.current_time;
  return caught_up_ + std::max<nanos>(left, 0ns);
}

// -- from outside -------------------------------------------------------------

void node::act() {
  port::send_anonymously(client_, wake_up{});
}

void node::touched() {
  if (handles_.store)
    port::send_anonymously(caf::actor_cast<writer_actor>(
                             caf::actor_cast<caf::actor>(handles_.store)),
                           file_touched{});
}

void node::kill_handler() {
  if (desk_.kill_one())
    outside_.notes.note(name_ + " loses a handler");
}

void node::kill_store() {
  if (!handles_.store)
    return;
  outside_.notes.note(name_ + " loses its writer or reader");
  if (outside_.luck.one_in(2))
    caf::anon_send_exit(handles_.store, caf::exit_reason::kill);
  else
    caf::anon_send_exit(handles_.reader, caf::exit_reason::kill);
}

} // namespace alkstore::sim
