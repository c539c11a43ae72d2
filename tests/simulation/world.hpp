// One simulated machine with several nodes on one file, and its bad luck.
#pragma once

#include "tests/simulation/agenda.hpp"
#include "tests/simulation/disk.hpp"
#include "tests/simulation/journal.hpp"
#include "tests/simulation/neighbour.hpp"
#include "tests/simulation/node.hpp"
#include "tests/simulation/oracle.hpp"
#include "tests/support/temp_dir.hpp"

#include <memory>
#include <string>
#include <vector>

namespace alkstore::sim {

/// How a seed ended.
struct outcome {
  uint64_t hash = 0;     ///< over the journal
  std::string violation; ///< empty: all rules held
  std::vector<std::string> last_lines;
  int64_t steps = 0, commits = 0, faults = 0, crashes = 0;
};

/// 40 s with faults, then 40 s without in which all is to be worked off.
class world {
  test::temp_dir dir_;
  std::string path_ = dir_.path("store.db");

public:
  world(uint64_t seed, bool aloud);
  ~world();

  outcome run();

  /// Runs a check of the oracle's. A handler must not throw its violation.
  template <class F>
  void judge(F check) {
    try {
      check();
    } catch (const violation& why) {
      if (broken_.empty())
        broken_ = why.what();
    }
  }

  const std::string& path() const { return path_; }
  int new_process() { return ++last_process_; }

  /// No more faults from here on.
  bool calm() const { return calm_; }

  static constexpr millis retention{120'000};
  static constexpr millis dedupe_for{30'000};

  dice luck;
  machine here;
  disk files;
  journal notes;
  oracle rules;
  agenda plans;

private:
  void run_until(nanos end);
  void step();
  bool run_some_actor();
  void advance();
  void look_at_what_it_did(int process);
  void bury(node& x);
  void every(millis low, millis high, std::function<void()> what);

  // -- bad luck: chaos.cpp ----------------------------------------------------

  void something_happens();
  void happens_to(node& x);
  void plan_fault(int process);
  void turn_the_wall_clock(millis by);
  void neighbour_writes();
  void end_neighbour();

  // -- the end ----------------------------------------------------------------

  void calm_down();
  void check_the_end();

  int last_process_ = machine::nobody;
  std::vector<std::unique_ptr<node>> nodes_;
  std::string broken_;
  bool calm_ = false;
  timestamp latest_wall_{};
  std::unique_ptr<neighbour> neighbour_; ///< while it is in a transaction
  outcome out_;
};

/// Runs one seed from its beginning to its end.
outcome run_seed(uint64_t seed, bool aloud = false);

} // namespace alkstore::sim
