// Tests of permissions, also where they run as root.
#pragma once

#include "tests/catch.hpp"

#include <unistd.h>

#include <cstdlib>

namespace alkstore::test {

/// Root may read everything: for a while this is somebody else.
class unprivileged {
public:
  unprivileged() : was_(geteuid()) {
    if (was_ == 0)
      REQUIRE(seteuid(65534) == 0);
  }
  unprivileged(const unprivileged&) = delete;
  unprivileged& operator=(const unprivileged&) = delete;
  ~unprivileged() {
    if (was_ == 0 && seteuid(0) != 0)
      std::abort();
  }

private:
  uid_t was_;
};

} // namespace alkstore::test
