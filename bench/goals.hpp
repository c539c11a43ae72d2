// What the figures are held to.
#pragma once

#include "bench/report.hpp"

namespace alkstore::bench {

struct goal {
  const char* name; ///< of the row
  const char* what; ///< which of its numbers
  std::optional<double> (*of)(const figure&);
  bool least; ///< the number is to be at least `bound`, else at most
  double bound;
};

const std::vector<goal>& goals();

} // namespace alkstore::bench
