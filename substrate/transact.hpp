// A caller's own function inside a transaction of ours.
#pragma once

#include "substrate/transaction.hpp"

#include <functional>

namespace alkstore {

/// Runs on the store's connection: business rows and outbox rows together.
/// `transaction::handle()` is the sqlite3* for its own SQL.
using transact_function = std::function<void(transaction&)>;

/// Runs `work` in `tx`, which must be its own: nothing else shares it, and the
/// caller commits it afterwards. BEGIN, COMMIT, ROLLBACK, ATTACH and DETACH are
/// refused while it runs; SQL that still runs after `limit` is interrupted.
/// What it throws is to roll everything back: a `failure` passes, anything else
/// becomes errc::failed with its text. Errors: busy (interrupted, whatever the
/// function made of it), invalid_argument (a refused statement, or the
/// transaction has ended).
void transact(transaction& tx, const transact_function& work,
              millis limit = std::chrono::seconds{1});

} // namespace alkstore
