// Files with many jobs, made quickly.
#pragma once

#include "bench/raw.hpp"

namespace alkstore::bench {

/// Rows to be added to a file.
struct backlog {
  std::string queue = "jobs";
  int count = 0;
  int queues = 1;        ///< spread over "<queue>0", "<queue>1", … if more
  int top_priority = 0;  ///< the highest of
  int priorities = 1;    ///< so many, one below the other
  int64_t due_in_ms = 0; ///< from now; negative: since
  bool claimed = false;  ///< with due_in_ms as the claim's deadline
};

/// Adds them in one transaction that nothing waits for.
void add(raw_store& to, const backlog& rows);

} // namespace alkstore::bench
