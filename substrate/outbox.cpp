#include "substrate/outbox.hpp"

#include <exception>
#include <string>

namespace alkstore {

int64_t outbox_enqueue_tx(sqlite3* db, std::string_view outbox,
                          std::string_view payload, const job_options& options,
                          const store_rules& rules, const clock& time) {
  auto queue = queue_name::outbox(outbox);
  transaction tx{db, rules, time};
  return jobs::enqueue(tx, queue, payload, options);
}

bool run_once(connection& db, const queue_name& queue, std::string_view worker,
              const delivery_function& deliver) {
  std::vector<job> claimed;
  {
    transaction tx{db};
    claimed = claims::claim(tx, queue, worker, 1);
    tx.commit();
  }
  if (claimed.empty())
    return false;
  std::string error = "the delivery failed";
  auto delivered = false;
  try {
    delivered = deliver(claimed.front());
  } catch (const std::exception& why) {
    error = why.what();
  } catch (...) {
    error = "the delivery threw something that is no std::exception";
  }
  transaction tx{db};
  if (delivered)
    claims::ack(tx, claimed.front().claim);
  else
    claims::retry(tx, claimed.front().claim, error);
  tx.commit();
  return true;
}

} // namespace alkstore
