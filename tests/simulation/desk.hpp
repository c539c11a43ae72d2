// Where the deliveries of one simulated process end.
#pragma once

#include "actors/consumer.hpp"

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace alkstore::sim {

class node;
class world;

/// Decides what becomes of each delivery, and when.
class desk {
public:
  desk(world& outside, node& home) : outside_(outside), home_(home) {}

  handler_factory handler();

  /// One of the handlers ends. False if there is none.
  bool kill_one();

  /// All that is open is delivered now.
  void conclude_all();

  /// The process has ended, and its handlers with it.
  void clear();

private:
  using key = std::pair<int64_t, int64_t>; ///< job, claim number
  struct open_delivery {
    std::function<void(verdict)> conclude;
    int handler = 0;
  };

  void take(int handler, const job& x, std::function<void(verdict)> conclude);
  void conclude(key id, verdict::outcome how);

  world& outside_;
  node& home_;
  std::map<key, open_delivery> open_;
  std::vector<handler_actor> handlers_;
};

} // namespace alkstore::sim
