// A caller's own function inside a transaction of ours.
#pragma once

#include "substrate/transaction.hpp"

#include <functional>

namespace alkstore {

/// Runs on the store's connection: business rows and outbox rows together.
/// `transaction::handle()` is the sqlite3* for its own SQL.
using transact_function = std::function<void(transaction&)>;

/// Runs `work` in a transaction of its own and commits it. BEGIN, COMMIT,
/// ROLLBACK, savepoints, ATTACH and DETACH are refused while it runs; SQL that
/// runs for longer than `limit` is interrupted. What it throws rolls everything
/// back: a `failure` passes, anything else becomes errc::failed with its text.
/// Errors: busy (interrupted), invalid_argument (a refused statement), as
/// commit().
void transact(connection& db, const transact_function& work,
              millis limit = std::chrono::seconds{1});

} // namespace alkstore
