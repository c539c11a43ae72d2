// A rule was broken.
#pragma once

#include <stdexcept>

namespace alkstore::sim {

struct violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace alkstore::sim
