// Dead letters: jobs that ran out of attempts or time, kept with their payload.
#pragma once

#include "substrate/job.hpp"
#include "substrate/names.hpp"
#include "substrate/transaction.hpp"

#include <string_view>
#include <vector>

namespace alkstore::dead_letters {

/// Why a job died where no worker's error says it.
inline constexpr std::string_view expired = "expired";
inline constexpr std::string_view exhausted = "max attempts exceeded";

/// Moves a live job here with `error` as its last one. Its dedupe key is free.
void bury(transaction& tx, int64_t id, std::string_view error);

/// One dead letter, payload and all. Errors: not_found.
job get(transaction& tx, int64_t id);

/// Dead letters of a queue, or of all, in id order, from `after` on, without
/// payloads.
std::vector<job> list(transaction& tx, const std::optional<queue_name>& queue,
                      int64_t after, int max);

/// Makes it a waiting job again: same id, stable id and dedupe key, attempts 0,
/// no expiry, claimable now. True once, then false. Errors: duplicate if a live
/// job or an unlapsed mark holds its key.
bool requeue(transaction& tx, int64_t id);

/// Deletes one. False if it is not there.
bool remove(transaction& tx, int64_t id);

/// Deletes those that died at or before `until`, at most `max`, oldest first.
/// Returns how many.
int remove_older(transaction& tx, timestamp until, int max);

} // namespace alkstore::dead_letters
