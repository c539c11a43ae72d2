// Another program on the same file, with a connection of its own.
#pragma once

#include "tests/simulation/machine.hpp"

#include <sqlite3.h>

#include <string>

namespace alkstore::sim {

class world;

/// Holds a write transaction from its start to its end, and enqueues in it.
class neighbour {
public:
  explicit neighbour(world& outside);
  neighbour(const neighbour&) = delete;
  neighbour& operator=(const neighbour&) = delete;
  ~neighbour();

  /// Commits, rolls back, or dies.
  void end();

  int process() const { return process_; }

private:
  bool run(const char* text);

  world& outside_;
  int process_;
  process_clock time_;
  sqlite3* db_ = nullptr;
  std::string payload_;
  int64_t id_ = 0;
};

} // namespace alkstore::sim
