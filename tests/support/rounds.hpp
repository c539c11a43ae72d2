// How long the long tests are.
#pragma once

#include <cstdlib>

namespace alkstore::test {

/// How often something is repeated: `all` if the environment has
/// ALKSTORE_TEST_ALL, else `some`.
inline int rounds(int some, int all) {
  return std::getenv("ALKSTORE_TEST_ALL") != nullptr ? all : some;
}

} // namespace alkstore::test
