#include "actors/write_line.hpp"

namespace alkstore {

namespace {

// A batch ends at the first of these. A commit costs some 150 us, so that a
// thousand operations have long amortised it, and others get the lock.
constexpr size_t most_operations = 1000;
constexpr millis most_time{50};

// True if it ran. Refusals come before any change, so the others are none the
// worse; after a change the transaction is nobody's any more.
bool run_one(transaction& tx, effects& seen, operation& op) {
  auto before = tx.changes_so_far();
  try {
    op.run(tx, seen);
    return true;
  } catch (...) {
    if (!tx.is_open() || tx.changes_so_far() != before)
      throw;
    op.refuse(to_error(std::current_exception()));
    return false;
  }
}

} // namespace

enqueue_group& write_line::last_group(steady_time now) {
  auto last = waiting_.empty()
                ? nullptr
                : dynamic_cast<enqueue_group*>(waiting_.back().get());
  if (last && !last->is_full())
    return *last;
  auto fresh = std::make_unique<enqueue_group>(now);
  auto& out = *fresh;
  push_back(std::move(fresh));
  return out;
}

size_t write_line::size_of(const batch& x) {
  size_t out = 0;
  for (auto& op : x)
    out += op->size();
  return out;
}

void write_line::run_batch(transaction& tx, effects& seen, batch& ran) {
  auto end = tx.time().steady_now() + most_time;
  auto operations = size_of(ran);
  auto fits = [&] {
    return ran.empty()
           || (!ran.back()->alone() && !waiting_.front()->alone()
               && operations < most_operations && tx.time().steady_now() < end);
  };
  while (!waiting_.empty() && fits()) {
    ran.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    if (run_one(tx, seen, *ran.back()))
      operations += ran.back()->size();
    else
      ran.pop_back();
  }
}

void write_line::refuse_older(steady_time then, const caf::error& why) {
  for (auto& x : waiting_)
    if (x->since() < then)
      x->refuse(why);
  std::erase_if(waiting_, [&](auto& x) { return x->since() < then; });
}

void write_line::refuse_all(const caf::error& why) {
  for (auto& x : waiting_)
    x->refuse(why);
  waiting_.clear();
}

} // namespace alkstore
