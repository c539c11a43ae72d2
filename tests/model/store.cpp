#include "tests/model/store.hpp"

#include "substrate/job_row.hpp"
#include "substrate/text.hpp"

#include <sstream>

namespace alkstore::model {

namespace {

template <class T>
std::string maybe(const std::optional<T>& x) {
  if (!x)
    return "-";
  if constexpr (std::is_same_v<T, timestamp>)
    return show(*x);
  else if constexpr (std::is_same_v<T, millis>)
    return std::to_string(x->count());
  else
    return std::to_string(*x);
}

std::string lock_row(const lease& x) {
  return "lock " + show(x) + "\n";
}

std::string mark_row(const std::string& queue, const std::string& key,
                     int64_t id, timestamp until) {
  return "mark " + queue + " " + to_hex(key) + " " + std::to_string(id)
         + " until " + show(until) + "\n";
}

std::string live_row(const job& x, timestamp at, bool claimed) {
  return (claimed ? "claimed until " : "waiting until ") + show(at) + " "
         + show(x) + "\n";
}

std::string dead_row(const job& x) {
  return "dead since " + maybe(x.died_at) + " " + show(x) + "\n";
}

// For what has no id of its own: the whole table is small.
std::string all_rows(transaction& tx, const char* sql,
                     const std::function<std::string(const statement&)>& row) {
  std::string out;
  auto rows = tx.sql(sql);
  while (rows.step())
    out += row(rows);
  return out;
}

} // namespace

std::string show(timestamp x) {
  return std::to_string((x - T).count());
}

std::string show(const claim_handle& x) {
  return std::to_string(x.job) + "#" + std::to_string(x.number) + "@"
         + show(x.deadline);
}

// Without its state and deadline, which follow from the rows.
std::string show(const job& x) {
  std::ostringstream out;
  out << x.id << ' ' << x.stable_id << ' ' << x.queue << " p" << x.priority
      << " try " << x.attempts << '/' << x.max_attempts << " claim "
      << x.claim.number << " v" << x.visibility_timeout.count() << " b"
      << x.backoff_base.count() << " in " << show(x.enqueued_at) << " run "
      << show(x.run_at) << " x" << maybe(x.expires_at) << " w" << x.worker
      << " key " << to_hex(x.dedupe_key) << " by " << x.schedule << ' '
      << maybe(x.fire_at) << " err " << to_hex(x.last_error) << ' '
      << to_hex(x.payload);
  return out.str();
}

std::string show(const lease& x) {
  std::ostringstream out;
  out << x.name << " of " << x.owner << " token " << x.token << " renewals "
      << x.renewals << " ttl " << x.ttl.count() << " until "
      << show(x.expires_at);
  return out.str();
}

std::string show(const schedule& x) {
  std::ostringstream out;
  out << x.name << ' ' << x.spec << " -> " << x.queue << ' '
      << to_hex(x.payload) << " p" << maybe(x.options.priority) << " x"
      << maybe(x.options.expires_in) << " m" << maybe(x.options.max_attempts)
      << " v" << maybe(x.options.visibility_timeout) << " b"
      << maybe(x.options.backoff_base) << " next " << show(x.next_fire_at)
      << (x.paused ? " paused" : "");
  return out.str();
}

int64_t real_store::enqueue(const queue_name& queue, const std::string& payload,
                            const job_options& options) {
  // A caller's own transaction is the other way in, by turns.
  if (payload.size() % 2 == 0)
    return jobs::enqueue(tx_, queue, payload, options);
  if (!queue.is_outbox())
    return enqueue_tx(tx_.handle(), queue.text(), payload, options, tx_.rules(),
                      tx_.time());
  auto name = queue.text().substr(queue.text().find(':') + 1);
  return outbox_enqueue_tx(tx_.handle(), name, payload, options, tx_.rules(),
                           tx_.time());
}

bool real_store::has(const char* table, int64_t id) {
  auto is = [&](const char* name) { return std::string_view{table} == name; };
  auto row = is("alkstore_jobs")
               ? tx_.sql("SELECT 1 FROM alkstore_jobs WHERE id = ?1")
             : is("alkstore_dead")
               ? tx_.sql("SELECT 1 FROM alkstore_dead WHERE id = ?1")
               : tx_.sql("SELECT 1 FROM alkstore_dedupe WHERE job_id = ?1");
  return row.bind(id).step();
}

std::string real_store::stable_id(int64_t id) {
  return jobs::get(tx_, id).stable_id;
}

std::map<std::string, jobs::queue_stats> real_store::stats() {
  std::map<std::string, jobs::queue_stats> out;
  for (auto& x : jobs::stats(tx_))
    out[x.queue] = x;
  return out;
}

std::string rows_of(transaction& tx) {
  std::string out;
  out += all_rows(tx,
                  "SELECT " ALKSTORE_JOB_COLUMNS
                  ", at, claimed, " ALKSTORE_PAYLOAD
                  " FROM alkstore_jobs ORDER BY id",
                  [](const statement& row) {
                    auto x = read_job(row);
                    x.payload = row.bytes(after_job_columns + 2);
                    return live_row(x, row.time(after_job_columns),
                                    row.integer(after_job_columns + 1) != 0);
                  });
  out += all_rows(tx,
                  "SELECT " ALKSTORE_JOB_COLUMNS ", died_at, " ALKSTORE_PAYLOAD
                  " FROM alkstore_dead ORDER BY id",
                  [](const statement& row) {
                    auto x = read_job(row);
                    x.died_at = row.time(after_job_columns);
                    x.payload = row.bytes(after_job_columns + 1);
                    return dead_row(x);
                  });
  out += all_rows(tx, "SELECT count(*) FROM alkstore_payloads",
                  [](const statement& row) {
                    return std::to_string(row.integer(0)) + " payloads\n";
                  });
  out += all_rows(tx,
                  "SELECT queue, key, job_id, until FROM alkstore_dedupe"
                  " ORDER BY queue, key",
                  [](const statement& row) {
                    return mark_row(row.bytes(0), row.bytes(1), row.integer(2),
                                    row.time(3));
                  });
  for (auto& x : leases::list(tx))
    out += lock_row(x);
  for (auto& x : schedules::list(tx))
    out += show(x) + "\n";
  return out;
}

std::string rows_of(const model& x) {
  std::string out;
  for (auto& [id, one] : x.live)
    out += live_row(one.what, one.at, one.claimed);
  for (auto& [id, one] : x.dead)
    out += dead_row(one);
  out += std::to_string(x.live.size() + x.dead.size()) + " payloads\n";
  for (auto& [key, one] : x.marks)
    out += mark_row(key.first, key.second, one.id, one.until);
  for (auto& [name, one] : x.locks)
    out += lock_row(one);
  for (auto& [name, one] : x.schedules)
    out += show(one.what) + "\n";
  return out;
}

} // namespace alkstore::model
