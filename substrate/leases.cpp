#include "substrate/leases.hpp"

namespace alkstore::leases {

namespace {

lease read_lease(const statement& row) {
  return {row.bytes(0),   row.bytes(1),           row.integer(2),
          row.integer(3), millis{row.integer(4)}, row.time(5)};
}

} // namespace

std::optional<lease> acquire(transaction& tx, std::string_view name,
                             std::string_view owner, millis ttl,
                             const std::optional<stale_lease>& stale) {
  if (ttl <= millis{0} || ttl > std::chrono::hours{24 * 365} || owner.empty())
    throw failure{errc::invalid_argument,
                  "lease: the ttl is 1 ms to 365 days and the owner not empty"};
  // No row has token 0, so an absent `stale` matches nothing.
  auto proof = stale.value_or(stale_lease{});
  auto row = tx.sql(
    "INSERT INTO alkstore_locks(name, owner, token, renewals, ttl_ms,"
    " expires_at) VALUES(?1, ?2, 1, 0, ?3, ?4 + ?3)"
    " ON CONFLICT(name) DO UPDATE SET owner = ?2, token = token + 1,"
    " renewals = 0, ttl_ms = ?3, expires_at = ?4 + ?3"
    " WHERE owner IS NULL OR expires_at <= ?4"
    " OR (token = ?5 AND renewals = ?6)"
    " RETURNING name, owner, token, renewals, ttl_ms, expires_at");
  row.bind(name, owner, ttl, tx.now(), proof.token, proof.renewals);
  if (!row.step())
    return std::nullopt;
  auto taken = read_lease(row);
  row.step(); // to its end, so that the statement counts as done
  return taken;
}

lease renew(transaction& tx, const lease& held) {
  auto row = tx.sql(
    "UPDATE alkstore_locks SET renewals = renewals + 1,"
    " expires_at = ?4 + ttl_ms"
    " WHERE name = ?1 AND owner = ?2 AND token = ?3 AND expires_at > ?4"
    " RETURNING name, owner, token, renewals, ttl_ms, expires_at");
  row.bind(held.name, held.owner, held.token, tx.now());
  if (!row.step())
    throw failure{errc::lock_lost,
                  "lease " + held.name + ", token " + std::to_string(held.token)
                    + ": its deadline passed or another holds it"};
  auto renewed = read_lease(row);
  row.step();
  return renewed;
}

bool release(transaction& tx, const lease& held) {
  return tx.run("UPDATE alkstore_locks SET owner = NULL, expires_at = ?4"
                " WHERE name = ?1 AND owner = ?2 AND token = ?3",
                held.name, held.owner, held.token, tx.now())
         > 0;
}

bool holds(transaction& tx, const lease& held) {
  auto row = tx.sql("SELECT 1 FROM alkstore_locks WHERE name = ?1"
                    " AND owner = ?2 AND token = ?3 AND expires_at > ?4");
  return row.bind(held.name, held.owner, held.token, tx.now()).step();
}

std::optional<lease> get(transaction& tx, std::string_view name) {
  auto row = tx.sql("SELECT name, owner, token, renewals, ttl_ms, expires_at"
                    " FROM alkstore_locks WHERE name = ?1");
  if (!row.bind(name).step())
    return std::nullopt;
  return read_lease(row);
}

std::vector<lease> list(transaction& tx) {
  std::vector<lease> out;
  auto rows = tx.sql("SELECT name, owner, token, renewals, ttl_ms, expires_at"
                     " FROM alkstore_locks ORDER BY name");
  while (rows.step())
    out.push_back(read_lease(rows));
  return out;
}

} // namespace alkstore::leases
