// What goes wrong in a simulated world.
#include "tests/simulation/world.hpp"

namespace alkstore::sim {

using namespace std::chrono_literals;

void world::something_happens() {
  auto n = luck.below(10);
  if (n < 1)
    return turn_the_wall_clock(millis{luck.spread(1, 200'000)}
                               * (luck.one_in(2) ? 1 : -1));
  if (n < 2)
    return neighbour_writes();
  auto& x = *nodes_[luck.below(nodes_.size())];
  if (x.is_up())
    happens_to(x);
}

void world::happens_to(node& x) {
  auto process = x.process();
  auto soon = here.uptime() + millis{luck.spread(10, 12'000)};
  auto n = luck.below(20);
  if (n < 3) {
    x.crash_after(static_cast<int>(luck.spread(1, 100)));
  } else if (n < 4) {
    files.plan(process, {.op = disk_op::write,
                         .skip = static_cast<int>(luck.below(40)),
                         .code = SQLITE_IOERR_WRITE,
                         .dies = true});
  } else if (n < 6) {
    x.stop();
  } else if (n < 8) {
    notes.note(x.name() + " stalls");
    x.stall(soon);
    plans.after(soon - here.uptime(), machine::nobody, [] {});
  } else if (n < 11) {
    notes.note(x.name() + " has a writer that stalls");
    x.stall_writer(soon);
    plans.after(soon - here.uptime(), machine::nobody, [] {});
  } else if (n < 12) {
    files.plan(process, {.op = luck.one_in(2) ? disk_op::sync : disk_op::write,
                         .code = SQLITE_OK,
                         .slow = millis{luck.spread(1, 6000)}});
  } else if (n < 13) {
    x.kill_handler();
  } else if (n < 14) {
    x.kill_store();
  } else {
    plan_fault(process);
  }
}

void world::plan_fault(int process) {
  struct kind {
    disk_op op;
    int code;
    int furthest; ///< calls that pass before it
  };
  static const std::vector<kind> kinds{
    {disk_op::open, SQLITE_CANTOPEN, 1},
    {disk_op::read, SQLITE_IOERR_READ, 30},
    {disk_op::write, SQLITE_IOERR_WRITE, 30},
    {disk_op::write, SQLITE_FULL, 30},
    {disk_op::sync, SQLITE_IOERR_FSYNC, 5},
    {disk_op::lock, SQLITE_BUSY, 10},
    {disk_op::lock, SQLITE_IOERR_SHMLOCK, 10},
    {disk_op::memory, SQLITE_NOMEM, 3000},
  };
  auto& x = luck.pick(kinds);
  files.plan(process, {.op = x.op,
                       .skip = static_cast<int>(luck.spread(1, x.furthest)) - 1,
                       .times = static_cast<int>(luck.spread(1, 8)),
                       .code = x.code});
}

void world::turn_the_wall_clock(millis by) {
  latest_wall_ = std::max(latest_wall_, here.wall_now());
  here.turn_wall(by);
  latest_wall_ = std::max(latest_wall_, here.wall_now());
  notes.note("the wall clock jumps by " + std::to_string(by.count()) + " ms");
}

void world::neighbour_writes() {
  if (neighbour_)
    return;
  neighbour_ = std::make_unique<neighbour>(*this);
  plans.after(millis{luck.spread(1, 9000)}, machine::nobody,
              [this] { end_neighbour(); });
}

void world::end_neighbour() {
  if (!neighbour_)
    return;
  auto process = neighbour_->process();
  neighbour_->end();
  look_at_what_it_did(process);
  neighbour_.reset();
}

} // namespace alkstore::sim
