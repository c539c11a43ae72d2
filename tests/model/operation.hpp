// One operation of a random sequence, and how both sides run it.
#pragma once

#include "tests/model/model.hpp"
#include "tests/model/store.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace alkstore::model {

/// Small numbers, from which queue, job, claim and so on are picked by what is
/// there: a sequence stays meaningful when it is cut shorter.
struct operation {
  static constexpr int kinds = 56;

  int what = 0; ///< see run(): the frequent ones have several numbers
  uint16_t a = 0, b = 0, c = 0, d = 0;
  bool rolled_back = false;
};

std::ostream& operator<<(std::ostream& out, const operation& x);

/// Handles that earlier operations answered, good or stale.
struct memory {
  std::vector<claim_handle> claims;
  std::vector<lease> leases;
};

/// When it happens: a little later than the last one, or far, or earlier; often
/// exactly when something is due or over, or a millisecond before.
timestamp time_of(const operation& x, const model& expected);

/// What it came to, as text: the answer, or the error's code.
struct answers {
  std::string store;
  std::string model;
};

answers run(const operation& x, real_store& real, model& expected,
            memory& both);

} // namespace alkstore::model
