// What is going to happen, by the machine's own time.
#pragma once

#include "tests/simulation/machine.hpp"

#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace alkstore::sim {

/// In the order of time, and of entry where that is the same.
class agenda {
public:
  explicit agenda(const machine& where) : where_(where) {}

  /// `process`: it does not happen if that one ends before.
  void after(nanos delay, int process, std::function<void()> what) {
    entries_.emplace(where_.uptime() + delay, entry{process, std::move(what)});
  }

  void forget(int process) {
    std::erase_if(entries_,
                  [=](auto& x) { return x.second.process == process; });
  }

  std::optional<nanos> next() const {
    if (entries_.empty())
      return std::nullopt;
    return entries_.begin()->first;
  }

  /// False if nothing was due.
  bool run_one() {
    if (entries_.empty() || entries_.begin()->first > where_.uptime())
      return false;
    auto what = std::move(entries_.begin()->second.what);
    entries_.erase(entries_.begin());
    what();
    return true;
  }

private:
  struct entry {
    int process;
    std::function<void()> what;
  };

  const machine& where_;
  std::multimap<nanos, entry> entries_;
};

} // namespace alkstore::sim
