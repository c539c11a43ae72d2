// A simulated process: the real actors of one node, and a caller of theirs.
#pragma once

#include "actors/runtime.hpp"
#include "tests/simulation/desk.hpp"
#include "tests/simulation/machine.hpp"

#include <caf/scheduler/test_coordinator.hpp>

#include <memory>
#include <optional>

namespace alkstore::sim {

class world;

class node {
public:
  node(world& outside, int number);
  node(const node&) = delete;
  node& operator=(const node&) = delete;
  ~node();

  /// A new process. If the store cannot be opened it is down again at once.
  void start();

  /// The process is gone, in the middle of whatever it was doing: its actors
  /// tidy up, but none of it reaches the file or another process.
  void crash();

  /// It is killed after so many messages more: the world has to see to it.
  void crash_after(int messages) { doomed_after_ = messages; }

  /// SIGTERM. It ends some time later.
  void stop();

  bool is_up() const { return sys_ != nullptr; }
  int process() const { return process_; }
  const std::string& name() const { return name_; }

  /// It does not run until then; the others go on. Of the writer: its actors
  /// do, too.
  void stall(nanos until) { stalled_until_ = until; }
  void stall_writer(nanos until) { writer_stalled_until_ = until; }

  /// Handles one message of one actor. False if there is none to handle.
  bool run_one();

  /// Lets its timers run up to the machine's time.
  void catch_up();

  /// When its next timer is due, by the machine's time.
  std::optional<nanos> next_timer();

  /// The caller does one more thing.
  void act();

  /// Something wrote to the file.
  void touched();

  /// Ends one of its actors, as a bug would.
  void kill_handler();
  void kill_store();

  desk& handlers() { return desk_; }
  const clock& time() const { return *time_; }

private:
  friend class client;

  void tear_down();
  runtime_options options();
  void report(const event& x);

  world& outside_;
  int number_;
  std::string name_;
  int process_ = 0;
  std::unique_ptr<process_clock> time_;
  desk desk_;

  std::unique_ptr<caf::actor_system> sys_;
  caf::scheduler::test_coordinator* jobs_ = nullptr;
  nanos caught_up_{0};
  runtime_actor runtime_;
  caf::actor client_;
  bool ended_ = false;
  int doomed_after_ = 0; ///< 0: not at all

  /// Set by the client; null while the store is down.
  store_handles handles_;

  nanos stalled_until_{0};
  nanos writer_stalled_until_{0};
};

} // namespace alkstore::sim
