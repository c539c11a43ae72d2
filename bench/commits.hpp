// Counts the commits of every SQLite connection of this process.
#pragma once

#include <cstdint>

namespace alkstore::bench {

/// Commits that changed a row, on connections opened after the first call, so
/// far. Thread-safe.
int64_t commits_so_far();

} // namespace alkstore::bench
