#include "substrate/transact.hpp"

#include <exception>
#include <string>

namespace alkstore {

namespace {

int refuse_control(void*, int action, const char*, const char*, const char*,
                   const char*) {
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return SQLITE_DENY;
    default: return SQLITE_OK;
  }
}

// The authorizer and the time limit, for as long as a caller's function runs.
class guard {
public:
  guard(transaction& tx, millis limit, bool& interrupted)
    : db_(tx.handle()),
      time_(tx.time()),
      end_(time_.steady_now() + limit),
      interrupted_(interrupted) {
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
    if (me.time_.steady_now() < me.end_)
      return 0;
    me.interrupted_ = true;
    return 1;
  }

  sqlite3* db_;
  const clock& time_;
  steady_time end_;
  bool& interrupted_;
};

} // namespace

void transact(transaction& tx, const transact_function& work, millis limit) {
  auto interrupted = false;
  try {
    guard watch{tx, limit, interrupted};
    work(tx);
  } catch (const failure&) {
    if (!interrupted)
      throw;
  } catch (const std::exception& why) {
    if (!interrupted)
      throw failure{errc::failed, why.what()};
  } catch (...) {
    if (!interrupted)
      throw failure{errc::failed,
                    "the function threw something that is no std::exception"};
  }
  if (interrupted) // whatever the function made of it
    throw failure{errc::busy, "the function's SQL still ran after "
                                + std::to_string(limit.count())
                                + " ms and was interrupted"};
  if (!tx.is_open())
    throw failure{errc::invalid_argument,
                  "the function ended the store's transaction"};
}

} // namespace alkstore
