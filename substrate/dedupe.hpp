// Dedupe keys: who holds one, and the marks that acked jobs leave. Internal.
#pragma once

#include "substrate/transaction.hpp"

#include <optional>

namespace alkstore::dedupe {

/// The job that an enqueue with this key repeats: one that waits or runs, or
/// one acked less than `dedupe-for` ago. A holder that is expired or exhausted
/// is moved to the dead letters first and holds nothing.
std::optional<int64_t> holder(transaction& tx, const std::string& queue,
                              std::string_view key);

/// Leaves the mark of a job that is about to be acked, if it has a key.
void mark(transaction& tx, int64_t job);

/// Deletes marks that have lapsed, at most `max`. Returns how many.
int forget_lapsed(transaction& tx, int max);

} // namespace alkstore::dedupe
