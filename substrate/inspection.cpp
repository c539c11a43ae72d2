#include "substrate/inspection.hpp"

#include "substrate/schema.hpp"
#include "substrate/transaction.hpp"

#include <map>
#include <memory>

namespace alkstore {

namespace {

using grade = check_result::grade;

void check_integrity(transaction& tx, std::vector<check_result>& out) {
  auto rows = tx.sql("PRAGMA integrity_check(10)");
  while (rows.step()) {
    auto text = rows.bytes(0);
    if (text == "ok")
      out.push_back({"integrity", grade::fine, "pages and indexes are sound"});
    else
      out.push_back({"integrity", grade::damaged, text});
  }
}

std::map<std::string, std::string> objects(statement rows) {
  std::map<std::string, std::string> out;
  while (rows.step())
    out.emplace(rows.bytes(0), rows.bytes(1));
  return out;
}

#define OUR_OBJECTS                                                            \
  "SELECT name, sql FROM sqlite_schema WHERE substr(name, 1, 9) = 'alkstore_'"

// What create_schema makes, read back from a store of its own in memory.
std::map<std::string, std::string> expected_objects() {
  sqlite3* raw = nullptr;
  auto rc = sqlite3_open(":memory:", &raw);
  auto close = [](sqlite3* x) { sqlite3_close(x); };
  std::unique_ptr<sqlite3, decltype(close)> memory{raw, close};
  if (rc != SQLITE_OK)
    throw sqlite_failure(raw, rc, "opening a store in memory");
  create_schema(raw);
  sqlite3_stmt* stmt = nullptr;
  if (auto bad = sqlite3_prepare_v2(raw, OUR_OBJECTS, -1, &stmt, nullptr))
    throw sqlite_failure(raw, bad, "reading the schema");
  return objects({raw, stmt});
}

void check_schema(transaction& tx, std::vector<check_result>& out) {
  auto found = objects(tx.sql(OUR_OBJECTS));
  auto before = out.size();
  for (auto& [name, sql] : expected_objects()) {
    auto here = found.find(name);
    if (here == found.end())
      out.push_back({"schema", grade::damaged, name + " is missing"});
    else if (here->second != sql)
      out.push_back(
        {"schema", grade::damaged, name + " is not as this version makes it"});
  }
  if (out.size() == before)
    out.push_back({"schema", grade::fine,
                   "version " + std::to_string(schema_version)
                     + ", every table and index is there"});
}

struct row_rule {
  const char* broken; ///< counts the rows that break it
  const char* text;
};

constexpr row_rule row_rules[] = {
  {"SELECT count(*) FROM alkstore_jobs"
   " WHERE id NOT IN (SELECT job_id FROM alkstore_payloads)",
   "jobs without a payload"},
  {"SELECT count(*) FROM alkstore_dead"
   " WHERE id NOT IN (SELECT job_id FROM alkstore_payloads)",
   "dead letters without a payload"},
  {"SELECT count(*) FROM alkstore_payloads"
   " WHERE job_id NOT IN (SELECT id FROM alkstore_jobs)"
   " AND job_id NOT IN (SELECT id FROM alkstore_dead)",
   "payloads without a job"},
  {"SELECT count(*) FROM alkstore_jobs"
   " WHERE id IN (SELECT id FROM alkstore_dead)",
   "jobs that are dead letters, too"},
  {"SELECT count(*) FROM alkstore_jobs WHERE attempts > max_attempts",
   "jobs with more attempts than they may have"},
};

void check_rows(transaction& tx, std::vector<check_result>& out) {
  auto before = out.size();
  for (auto& rule : row_rules) {
    auto row = tx.sql(rule.broken);
    row.step();
    if (auto count = row.integer(0); count > 0)
      out.push_back(
        {"rows", grade::damaged, std::to_string(count) + " " + rule.text});
  }
  if (out.size() == before)
    out.push_back({"rows", grade::fine, "jobs and payloads belong together"});
}

void check_clock(transaction& tx, std::vector<check_result>& out) {
  constexpr millis tolerated{1000};
  auto row = tx.sql("SELECT max(t) FROM ("
                    " SELECT max(enqueued_at) AS t FROM alkstore_jobs"
                    " UNION ALL SELECT max(died_at) FROM alkstore_dead"
                    " UNION ALL SELECT max(expires_at - ttl_ms)"
                    "  FROM alkstore_locks WHERE owner IS NOT NULL)");
  row.step();
  auto newest = row.maybe_time(0);
  if (newest && *newest > tx.now() + tolerated)
    out.push_back({"clock", grade::warning,
                   "the newest row is "
                     + std::to_string((*newest - tx.now()).count())
                     + " ms ahead of the clock, which went back"});
  else
    out.push_back({"clock", grade::fine, "no row is from the future"});
}

} // namespace

std::vector<check_result> inspect(connection& db) {
  std::vector<check_result> out;
  transaction tx{db, transaction::access::read};
  check_integrity(tx, out);
  check_schema(tx, out);
  check_rows(tx, out);
  check_clock(tx, out);
  return out;
}

} // namespace alkstore
