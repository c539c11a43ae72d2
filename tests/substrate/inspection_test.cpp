#include "substrate/inspection.hpp"

#include "tests/substrate/caller.hpp"
#include "tests/substrate/fixture.hpp"

using namespace alkstore;

namespace {

using grade = check_result::grade;

// What is not fine, each as "subject: text".
std::vector<std::string> complaints(store& s, grade how) {
  std::vector<std::string> out;
  for (auto& x : inspect(s.db)) {
    if (x.how == how)
      out.push_back(x.subject + ": " + x.text);
    else
      CHECK(x.how == grade::fine);
  }
  return out;
}

std::vector<std::string> damage(const char* sql) {
  store s;
  s.enqueue(q);
  s.fail(s.claim(q).claim);
  s.enqueue(q);
  caller{s.db.path()}.run(sql);
  return complaints(s, grade::damaged);
}

using texts = std::vector<std::string>;

} // namespace

TEST_CASE("a sound store has a good word for each subject") {
  store s;
  s.enqueue(q);
  s.lead();
  std::vector<std::string> subjects;
  for (auto& x : inspect(s.db)) {
    CHECK(x.how == grade::fine);
    subjects.push_back(x.subject);
  }
  CHECK(subjects == texts{"integrity", "schema", "rows", "clock"});
}

TEST_CASE("rows that do not belong together are found and counted") {
  CHECK(damage("DELETE FROM alkstore_payloads")
        == texts{"rows: 1 jobs without a payload",
                 "rows: 1 dead letters without a payload"});
  CHECK(damage("DELETE FROM alkstore_jobs")
        == texts{"rows: 1 payloads without a job"});
  CHECK(damage("UPDATE alkstore_jobs SET id = 1; DELETE FROM"
               " alkstore_payloads WHERE job_id = 2")
        == texts{"rows: 1 jobs that are dead letters, too"});
  CHECK(damage("UPDATE alkstore_jobs SET attempts = 4")
        == texts{"rows: 1 jobs with more attempts than they may have"});
}

TEST_CASE("a table or an index that is not as it was made is found") {
  CHECK(damage("DROP INDEX alkstore_jobs_claim")
        == texts{"schema: alkstore_jobs_claim is missing"});
  CHECK(damage("ALTER TABLE alkstore_dedupe ADD COLUMN mine TEXT")
        == texts{"schema: alkstore_dedupe is not as this version makes it"});
}

TEST_CASE("a damaged index is found by SQLite's own check") {
  // The one has the other's pages, and so the wrong keys.
  auto found = damage(
    "PRAGMA writable_schema = ON; CREATE TEMP TABLE was AS"
    " SELECT name AS n, rootpage AS r FROM sqlite_schema;"
    " UPDATE sqlite_schema SET rootpage = (SELECT r FROM was WHERE n ="
    " iif(name = 'alkstore_dead_age', 'alkstore_dead_queue',"
    " 'alkstore_dead_age'))"
    " WHERE name IN ('alkstore_dead_age', 'alkstore_dead_queue');"
    " PRAGMA schema_version = 1000");
  CHECK(!found.empty());
  CHECK(found.at(0).substr(0, 11) == "integrity: ");
}

TEST_CASE("rows from the future say that the clock went back") {
  store s;
  s.enqueue(q);
  s.time.set(T - 1s);
  CHECK(complaints(s, grade::warning).empty());
  s.time.set(T - 1001ms);
  CHECK(complaints(s, grade::warning)
        == texts{"clock: the newest row is 1001 ms ahead of the clock, which "
                 "went back"});
}
