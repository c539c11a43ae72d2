#include "actors/enqueue_group.hpp"

namespace alkstore {

void enqueue_group::run(transaction& tx, effects& seen) {
  std::erase_if(entries_, [&](entry& x) { return !is_good(tx, x); });
  std::vector<jobs::new_job> wanted;
  wanted.reserve(entries_.size());
  for (auto& x : entries_)
    wanted.push_back({*x.queue, x.what.payload, x.what.options});
  // Of several the most urgent are to be claimed, not the first.
  if (wanted.size() == 1)
    if (auto id = seen.standing.claim_new(tx, wanted.front())) {
      entries_.front().id = *id;
      return;
    }
  auto ids = jobs::enqueue(tx, wanted);
  for (size_t i = 0; i < ids.size(); ++i) {
    entries_[i].id = ids[i];
    seen.standing.touch(entries_[i].queue->text());
  }
}

// One that is not has been answered.
bool enqueue_group::is_good(const transaction& tx, entry& x) {
  try {
    x.queue = x.to_outbox ? queue_name::outbox(x.what.queue)
                          : queue_name::plain(x.what.queue);
    jobs::check(x.what.options);
    jobs::check_payload(tx, x.what.payload);
    return true;
  } catch (const failure& why) {
    x.sender.tell(make_error(why.code(), why.what()));
    return false;
  }
}

void enqueue_group::answer() {
  for (auto& x : entries_)
    x.sender.tell(x.id);
}

void enqueue_group::refuse(const caf::error& why) {
  for (auto& x : entries_)
    x.sender.tell(why);
}

} // namespace alkstore
