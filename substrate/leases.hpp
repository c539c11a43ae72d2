// Leases: named locks with an owner, a fencing token and a deadline.
// docs/lease.md draws the protocol.
#pragma once

#include "substrate/transaction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alkstore {

/// A lease's row. It is held while `owner` is not empty and expires_at has not
/// passed (now < expires_at).
struct lease {
  std::string name;
  std::string owner;      ///< unique per contender, not per host; empty: free
  int64_t token = 0;      ///< fencing token: grows with each new holder
  int64_t renewals = 0;   ///< by this holder
  millis ttl{};           ///< as the holder asked
  timestamp expires_at{}; ///< by the wall clock

  bool operator==(const lease&) const = default;
};

namespace leases {

/// The lease of the leader, which fires the schedules.
inline constexpr std::string_view scheduler = "__alkstore_scheduler";

/// What a standby has watched without a change for longer than the lease's own
/// ttl by its steady clock. It may take that lease though the wall clock, gone
/// back, calls it good still; any renewal in between makes it void.
struct stale_lease {
  int64_t token = 0;
  int64_t renewals = 0;
};

/// Takes a free, lapsed or provenly stale lease, in one statement. Nothing if
/// somebody holds it. Requires ttl > 0. Errors: invalid_argument.
std::optional<lease> acquire(transaction& tx, std::string_view name,
                             std::string_view owner, millis ttl,
                             const std::optional<stale_lease>& stale = {});

/// Extends the holder's lease by its ttl from now. Errors: lock_lost, also for
/// a lease that has lapsed and that nobody took.
lease renew(transaction& tx, const lease& held);

/// Frees it, keeping the row and its token. False if another holds it.
bool release(transaction& tx, const lease& held);

/// True while owner and token are the holder's and the deadline has not passed.
bool holds(transaction& tx, const lease& held);

/// The row, if there ever was one.
std::optional<lease> get(transaction& tx, std::string_view name);

/// Every row, by name.
std::vector<lease> list(transaction& tx);

} // namespace leases

} // namespace alkstore
