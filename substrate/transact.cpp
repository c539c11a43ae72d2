#include "substrate/transact.hpp"

#include <exception>

namespace alkstore {

namespace {

int refuse_control(void*, int action, const char*, const char*, const char*,
                   const char*) {
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return SQLITE_DENY;
    default: return SQLITE_OK;
  }
}

// The authorizer and the time limit, for as long as a caller's function runs.
class guard {
public:
  guard(transaction& tx, millis limit)
    : db_(tx.handle()), time_(tx.time()), end_(time_.steady_now() + limit) {
    constexpr int steps_between_looks = 1000;
    sqlite3_set_authorizer(db_, refuse_control, nullptr);
    sqlite3_progress_handler(db_, steps_between_looks, too_late, this);
  }
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  ~guard() {
    sqlite3_set_authorizer(db_, nullptr, nullptr);
    sqlite3_progress_handler(db_, 0, nullptr, nullptr);
  }

private:
  static int too_late(void* self) {
    auto& me = *static_cast<guard*>(self);
    return me.time_.steady_now() >= me.end_;
  }

  sqlite3* db_;
  const clock& time_;
  steady_time end_;
};

} // namespace

void transact(connection& db, const transact_function& work, millis limit) {
  transaction tx{db};
  try {
    guard watch{tx, limit};
    work(tx);
  } catch (const failure&) {
    throw;
  } catch (const std::exception& why) {
    throw failure{errc::failed, why.what()};
  } catch (...) {
    throw failure{errc::failed,
                  "the function threw something that is no std::exception"};
  }
  if (!tx.is_open())
    throw failure{errc::invalid_argument,
                  "the function ended the store's transaction"};
  tx.commit();
}

} // namespace alkstore
