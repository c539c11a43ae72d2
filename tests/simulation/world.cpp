#include "tests/simulation/world.hpp"

#include "substrate/leases.hpp"

#include <algorithm>

namespace alkstore::sim {

using namespace std::chrono_literals;

namespace {

constexpr size_t node_count = 3;
constexpr nanos chaos_time = 40s;
constexpr nanos calm_time = 40s;

} // namespace

world::world(uint64_t seed, bool aloud)
  : luck(seed),
    here(seed + 1),
    files(here),
    notes(here, dir_.path() + "/", aloud),
    rules(path_, retention, here, notes),
    plans(here) {
  connection{path_, {}, process_clock{here, millis{0}}}; // makes the file
  files.take_written(); // else the first step would be taken for a commit
  for (size_t i = 0; i < node_count; ++i)
    nodes_.push_back(std::make_unique<node>(*this, static_cast<int>(i) + 1));
}

world::~world() {
  neighbour_.reset();
  rules.close();
}

outcome world::run() {
  every(20ms, 150ms, [this] {
    auto& x = *nodes_[luck.below(node_count)];
    if (!calm_ && x.is_up())
      x.act();
  });
  every(1ms, 2000ms, [this] {
    for (auto& x : nodes_)
      if (!x->is_up() && (calm_ || luck.one_in(6)))
        x->start();
  });
  every(100ms, 2000ms, [this] {
    if (!calm_)
      something_happens();
  });
  run_until(here.uptime() + chaos_time);
  if (broken_.empty())
    calm_down();
  run_until(here.uptime() + calm_time);
  judge([this] { check_the_end(); });
  out_.hash = notes.hash();
  out_.violation = broken_;
  out_.last_lines = {notes.last_lines().begin(), notes.last_lines().end()};
  out_.commits = rules.commits();
  out_.faults = files.faults_so_far();
  return out_;
}

void world::run_until(nanos end) {
  while (broken_.empty() && here.uptime() < end)
    step();
}

// One thing at a time: a plan, or one message of one actor; else time goes on.
void world::step() {
  ++out_.steps;
  for (auto& x : nodes_)
    if (x->is_up())
      x->catch_up();
  if (plans.run_one()) {
    look_at_what_it_did(machine::nobody);
    return;
  }
  if (luck.one_in(50) || !run_some_actor())
    advance();
}

bool world::run_some_actor() {
  auto first = luck.below(node_count);
  for (size_t i = 0; i < node_count; ++i) {
    auto& x = *nodes_[(first + i) % node_count];
    if (!x.is_up() || !x.run_one())
      continue;
    auto process = x.process();
    look_at_what_it_did(process);
    if (files.is_dead(process) && x.is_up())
      bury(x);
    return true;
  }
  return false;
}

void world::advance() {
  auto next = here.uptime() + 500ms;
  if (auto plan = plans.next())
    next = std::min(next, *plan);
  for (auto& x : nodes_)
    if (x->is_up())
      if (auto timer = x->next_timer())
        next = std::min(next, *timer);
  auto left = std::max<nanos>(next - here.uptime(), 1ns);
  if (luck.one_in(4)) // a machine that is busy, or slow
    left = std::min<nanos>(left,
                           std::chrono::microseconds{luck.between(1, 2000)});
  here.pass(left);
}

void world::look_at_what_it_did(int process) {
  if (!files.take_written())
    return;
  judge([&] { rules.look(process, files.locked_at(), files.take_touched()); });
  // As commit_watch would: soon, and to itself, too.
  for (auto& x : nodes_)
    if (x->is_up())
      plans.after(std::chrono::microseconds{luck.between(0, 3000)},
                  x->process(), [&x] { x->touched(); });
}

void world::bury(node& x) {
  ++out_.crashes;
  auto process = x.process();
  x.crash();
  auto up = std::any_of(nodes_.begin(), nodes_.end(),
                        [](auto& one) { return one->is_up(); });
  if (!up && !neighbour_)
    judge([&] { rules.look_at_all(process); });
}

void world::every(millis low, millis high, std::function<void()> what) {
  plans.after(millis{luck.between(low.count(), high.count())}, machine::nobody,
              [=, this] {
                what();
                every(low, high, what);
              });
}

// -- the end ------------------------------------------------------------------

void world::calm_down() {
  calm_ = true;
  notes.note("all is well from here on");
  files.forget_faults();
  turn_the_wall_clock(std::max(millis{0}, latest_wall_ - here.wall_now()));
  end_neighbour();
  for (auto& x : nodes_) {
    x->stall(0ns);
    x->stall_writer(0ns);
    x->handlers().conclude_all();
  }
}

void world::check_the_end() {
  if (!broken_.empty())
    return;
  auto now = here.wall_now().time_since_epoch().count();
  auto up = [&](int process) {
    return std::any_of(nodes_.begin(), nodes_.end(), [&](auto& x) {
      return x->is_up() && x->process() == process;
    });
  };
  for (auto& x : nodes_)
    if (!x->is_up())
      throw violation{x->name() + " is down in the end"};
  auto& state = rules.state();
  for (auto& [id, x] : state.jobs)
    if (!x.dead && x.queue != "manual" && x.at <= now - 20'000)
      throw violation{"job " + std::to_string(id) + " of " + x.queue
                      + " was not worked off in the end"};
  for (auto& [name, x] : state.schedules)
    if (!x.paused && x.next_fire_at <= now - 5000)
      throw violation{"schedule " + name + " does not fire in the end"};
  auto& lease = state.leases.at(std::string{leases::scheduler});
  if (lease.expires_at <= now || !up(oracle::process_of(lease.owner)))
    throw violation{"nobody leads in the end"};
}

outcome run_seed(uint64_t seed, bool aloud) {
  return world{seed, aloud}.run();
}

} // namespace alkstore::sim
