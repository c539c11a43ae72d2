#include "actors/standing_claims.hpp"

namespace alkstore {

void standing_claims::set(const grant& x) {
  auto queue = x.outbox ? queue_name::outbox(x.name)
                        : queue_name::plain(x.name);
  auto found = std::find_if(book_.begin(), book_.end(), [&](const entry& e) {
    return e.who.consumer == x.consumer;
  });
  if (x.credit == 0) {
    if (found != book_.end())
      book_.erase(found);
    return;
  }
  if (found == book_.end())
    book_.push_back({.who = x, .queue = queue});
  else
    *found = {.who = x, .queue = queue, .in_hand = found->in_hand};
}

void standing_claims::drop(const caf::actor_addr& consumer) {
  std::erase_if(book_, [&](const entry& e) {
    return e.who.consumer.address() == consumer;
  });
}

void standing_claims::give_back(const caf::actor_addr& consumer, int count,
                                bool unstarted) {
  for (auto& x : book_)
    if (x.who.consumer.address() == consumer) {
      x.settled = std::min(x.in_hand, x.settled + count);
      x.look = true;
      x.full |= unstarted;
    }
}

void standing_claims::touch(std::string_view queue) {
  for (auto& x : book_)
    if (x.queue.text() == queue)
      x.look = true;
}

void standing_claims::touch_all() {
  for (auto& x : book_)
    x.look = true;
}

bool standing_claims::wants_claims() const {
  return std::any_of(book_.begin(), book_.end(),
                     [](const entry& x) { return x.look && room(x) > 0; });
}

void standing_claims::claim(transaction& tx) {
  for (auto& x : book_)
    if (x.look && room(x) > 0)
      claim_for(x, tx);
}

void standing_claims::claim_for(entry& x, transaction& tx) {
  auto wanted = room(x), startable = free_hands(x);
  x.full = x.dry = false;
  x.looked = true;
  auto got = claims::claim(tx, x.queue, x.who.worker, wanted, startable);
  auto count = static_cast<int>(got.size());
  std::move(got.begin(), got.end(), std::back_inserter(x.found));
  x.next.reset();
  if (count == wanted)
    return; // whatever is left waits for credit, not for a time
  x.next = claims::next_claim_at(tx, x.queue);
  x.dry = !x.next || *x.next > tx.now();
  if (!x.dry && count >= startable)
    x.next.reset(); // a last attempt waits for a free hand
}

std::optional<int64_t> standing_claims::claim_new(transaction& tx,
                                                  const jobs::new_job& x) {
  auto of_queue = [&](const entry& e) {
    return e.queue.text() == x.queue.text();
  };
  auto waits = std::find_if(book_.begin(), book_.end(), [&](const entry& e) {
    return of_queue(e) && e.dry && !e.look && room(e) > 0
           && (!e.next || *e.next > tx.now());
  });
  if (waits == book_.end())
    return std::nullopt;
  auto born = jobs::insert_claimed(tx, x, waits->who.worker);
  if (!born)
    return std::nullopt;
  born->payload = x.payload;
  auto lapses_at = born->claim.deadline; // then it is for any of them
  for (auto& e : book_)
    if (of_queue(e) && (!e.next || lapses_at < *e.next))
      e.next = lapses_at;
  waits->found.push_back(std::move(*born));
  return waits->found.back().id;
}

void standing_claims::take_back() {
  for (auto& x : book_) {
    x.settled = 0;
    x.looked = false;
    x.found.clear();
  }
}

void standing_claims::touch_due(timestamp now) {
  for (auto& x : book_)
    if (x.next && *x.next <= now)
      x.look = true;
}

std::optional<timestamp> standing_claims::next() const {
  std::optional<timestamp> soonest;
  for (auto& x : book_)
    if (x.next && room(x) > 0 && (!soonest || *x.next < *soonest))
      soonest = x.next;
  return soonest;
}

} // namespace alkstore
