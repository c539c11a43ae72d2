// Who can take how many jobs of which queue, without having to ask.
#pragma once

#include "actors/actors.hpp"
#include "substrate/claims.hpp"
#include "substrate/jobs.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace alkstore {

/// The writer's book of consumers and their credit. Jobs are claimed within the
/// transaction that made them claimable or brought the credit back, and handed
/// out once that is on disk. Not an actor; the writer's alone.
class standing_claims {
public:
  /// Sets a consumer's credit; zero takes it out of the book.
  void set(const grant& x);

  /// Takes out a consumer that ended. Its claims wait for their deadline.
  void drop(const caf::actor_addr& consumer);

  /// A consumer settled so many jobs, in the open transaction. One that handed
  /// back jobs which it could not start gets more once it has a free hand: they
  /// are for somebody who has one now.
  void give_back(const caf::actor_addr& consumer, int count, bool unstarted);

  /// Jobs of this queue may have become claimable, or earlier than thought.
  void touch(std::string_view queue);
  void touch_all();

  /// Stores a new job as claimed by the consumer that waits for one of its
  /// queue: it has room, and nothing else there is due. Answers its id. None,
  /// and nothing is stored, if there is no such consumer, that is not known
  /// without a look, or the job cannot start at once.
  std::optional<int64_t> claim_new(transaction& tx, const jobs::new_job& x);

  /// True if there is a reason to look for jobs.
  bool wants_claims() const;

  /// Claims for every consumer with credit and a reason to look.
  void claim(transaction& tx);

  /// The transaction is on disk: gives each consumer what was claimed for it.
  template <class Self>
  void hand_out(Self* self) {
    for (auto& x : book_) {
      x.in_hand -= std::exchange(x.settled, 0);
      if (x.looked)
        x.look = x.looked = false;
      if (x.found.empty())
        continue;
      x.in_hand += static_cast<int>(x.found.size());
      port::send(self, x.who.consumer, claimed{std::move(x.found)});
      x.found.clear();
    }
  }

  /// The transaction is gone, and with it what was claimed in it.
  void take_back();

  /// When the soonest job is due that a consumer still has credit for.
  std::optional<timestamp> next() const;

  /// That time has come for the queues where it has.
  void touch_due(timestamp now);

private:
  struct entry {
    grant who;
    queue_name queue;
    int in_hand = 0;     ///< claimed and not yet settled
    int settled = 0;     ///< of these, in the open transaction
    bool look = true;    ///< there may be claimable jobs
    bool looked = false; ///< in the open transaction
    bool full = false;   ///< handed back unstarted jobs, has no hand free
    bool dry = false;    ///< the last look left nothing that is due
    std::optional<timestamp> next{}; ///< when what was left becomes claimable
    std::vector<job> found{};        ///< claimed in the open transaction
  };

  static int in_hand_by_now(const entry& x) {
    return x.in_hand - x.settled + static_cast<int>(x.found.size());
  }
  static int free_hands(const entry& x) {
    return std::max(0, x.who.startable - in_hand_by_now(x));
  }
  static int room(const entry& x) {
    if (x.full && free_hands(x) == 0)
      return 0;
    return x.who.credit - in_hand_by_now(x);
  }
  static void claim_for(entry& x, transaction& tx);

  std::vector<entry> book_;
};

} // namespace alkstore
