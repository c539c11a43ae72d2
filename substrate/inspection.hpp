// Whether a store's file is sound.
#pragma once

#include "substrate/connection.hpp"

#include <string>
#include <vector>

namespace alkstore {

/// One thing that was looked at.
struct check_result {
  enum class grade : uint8_t { fine, warning, damaged };

  std::string subject; ///< `integrity`, `schema`, `rows`, `clock`
  grade how = grade::fine;
  std::string text; ///< what was found, in a sentence
};

/// Looks through the whole file, in one read transaction: SQLite's own check of
/// its pages and indexes, the tables against those that this version makes, the
/// rows against each other, and the newest of their times against the clock. At
/// least one result a subject. Errors: as SQLite says.
std::vector<check_result> inspect(connection& db);

} // namespace alkstore
