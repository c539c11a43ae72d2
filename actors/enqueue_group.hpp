// Enqueues that came one after the other, written by the same statements.
#pragma once

#include "actors/operation.hpp"

#include <vector>

namespace alkstore {

/// What jobs::enqueue takes at once, of callers that know nothing of each
/// other: each is refused alone, and has an answer of its own.
class enqueue_group final : public operation {
public:
  explicit enqueue_group(steady_time since) : operation(false, since) {}

  bool is_full() const noexcept {
    return entries_.size() == jobs::rows_at_once;
  }

  void add(enqueue&& x, asker<int64_t> sender) {
    add({std::move(x), false, std::move(sender), {}, {}});
  }
  void add(outbox_enqueue&& x, asker<int64_t> sender) {
    add({{std::move(x.outbox), std::move(x.payload), std::move(x.options)},
         true,
         std::move(sender),
         {},
         {}});
  }

  size_t size() const noexcept override { return entries_.size(); }
  void run(transaction& tx, effects& seen) override;
  void answer() override;
  void refuse(const caf::error& why) override;

private:
  struct entry {
    enqueue what; ///< `queue` is the outbox's name if it goes to one
    bool to_outbox;
    asker<int64_t> sender;
    std::optional<queue_name> queue;
    int64_t id;
  };

  void add(entry&& x) {
    if (entries_.size() == 1) // most often there is no second
      entries_.reserve(jobs::rows_at_once);
    entries_.push_back(std::move(x));
  }
  static bool is_good(const transaction& tx, entry& x);

  std::vector<entry> entries_;
};

} // namespace alkstore
