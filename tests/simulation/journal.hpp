// What happened, in lines; the same seed writes the same lines.
#pragma once

#include "tests/simulation/machine.hpp"

#include <cstdint>
#include <deque>
#include <string>

namespace alkstore::sim {

/// Keeps a hash over all and the last lines for the reader.
class journal {
public:
  /// `hidden`: what no line shows, for it is another one in each run.
  journal(const machine& where, std::string hidden, bool aloud)
    : where_(where), hidden_(std::move(hidden)), aloud_(aloud) {}

  void note(const std::string& line);

  /// An actor handled a message: into the hash only. Throws if there is no end
  /// to it while hardly any time passes.
  void step(int process, const char* actor);

  uint64_t hash() const { return hash_; }
  const std::deque<std::string>& last_lines() const { return last_; }

private:
  const machine& where_;
  std::string hidden_;
  bool aloud_;
  uint64_t hash_ = 0xcbf29ce484222325; // FNV-1a's
  std::deque<std::string> last_;
  nanos step_since_{0};
  int steps_ = 0; ///< within this second
};

} // namespace alkstore::sim
