// Every choice of a simulation, from one seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace alkstore::sim {

/// The same seed, the same throws, on every machine: the standard's
/// distributions promise no such thing.
class dice {
public:
  explicit dice(uint64_t seed) : engine_(seed) {}

  /// 0 … n-1.
  uint64_t below(uint64_t n) { return engine_() % n; }

  /// Both ends included.
  int64_t between(int64_t low, int64_t high) {
    return low
           + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
  }

  bool one_in(uint64_t n) { return below(n) == 0; }

  /// Like between(), but as often small as large: low > 0.
  int64_t spread(int64_t low, int64_t high) {
    auto top = low;
    while (top < high && !one_in(6))
      top *= 2;
    return between(low, top < high ? top : high);
  }

  template <class T>
  const T& pick(const std::vector<T>& some) {
    return some[below(some.size())];
  }

private:
  std::mt19937_64 engine_;
};

} // namespace alkstore::sim
