// dead list, requeue, delete. `dead show` is `job`, of dead letters alone.

#include "app/cli/commands.hpp"
#include "app/json/job_record.hpp"
#include "substrate/dead_letters.hpp"

namespace alkstore::cli {

namespace {

using action = dead_change_command::action;

constexpr int batch = 500; // rows a transaction, as in the node's own clean-up

std::string past_tense(action what) {
  return what == action::requeue ? "requeued" : "deleted";
}

bool change(transaction& tx, action what, int64_t id) {
  return what == action::requeue ? dead_letters::requeue(tx, id)
                                 : dead_letters::remove(tx, id);
}

// All of them or none.
int64_t change_these(connection& db, const dead_change_command& what) {
  transaction tx{db};
  for (auto id : what.ids)
    if (!change(tx, what.what, id))
      throw failure{errc::not_found, "dead letter " + std::to_string(id)
                                       + ": there is none; nothing was "
                                       + past_tense(what.what)};
  tx.commit();
  return static_cast<int64_t>(what.ids.size());
}

struct tally {
  int64_t done = 0, held = 0; ///< held: another job has the dedupe key
};

tally change_all(connection& db, const queue_name& queue, action what) {
  tally out;
  for (int64_t last = 0;;) {
    transaction tx{db};
    auto page = dead_letters::list(tx, queue, last, batch);
    if (page.empty())
      return out;
    for (auto& x : page) {
      last = x.id;
      try {
        out.done += change(tx, what, x.id);
      } catch (const failure& why) {
        if (why.code() != errc::duplicate)
          throw;
        ++out.held;
      }
    }
    tx.commit();
  }
}

} // namespace

void run(session& s, const dead_list_command& what) {
  auto queue = what.where.name();
  auto db = s.open_to_read();
  transaction tx{db, transaction::access::read};
  std::vector<record> rows;
  for (auto& x :
       dead_letters::list(tx, queue, what.page.after, what.page.limit))
    rows.push_back(job_record(x, tx.now()));
  if (rows.empty() && queue)
    s.hint_at_queues(tx, *queue);
  s.out().show(rows, {"id", "queue", "outbox", "attempts", "max_attempts",
                      "died_at", "last_error"});
}

void run(session& s, const dead_change_command& what) {
  auto queue = what.where.name();
  if (queue.has_value() != what.ids.empty())
    throw failure{errc::invalid_argument,
                  "which dead letters? Name their ids, or all of a queue with "
                  "--queue or --outbox"};
  auto db = s.open_to_write();
  tally done;
  if (queue)
    done = change_all(db, *queue, what.what);
  else
    done.done = change_these(db, what);
  s.out().tell(std::to_string(done.done) + " dead letters "
                 + past_tense(what.what)
                 + (done.held > 0 ? ", " + std::to_string(done.held)
                                      + " left: another job holds their key"
                                  : ""),
               {{past_tense(what.what), done.done}, {"held", done.held}});
}

} // namespace alkstore::cli
