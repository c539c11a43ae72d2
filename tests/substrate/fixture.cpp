#include "tests/substrate/fixture.hpp"

#include <cstdlib>

namespace alkstore {

temp_dir::temp_dir()
  : path_(std::filesystem::temp_directory_path() / "alkstore-XXXXXX") {
  REQUIRE(::mkdtemp(path_.data()));
}

int64_t store::enqueue(const queue_name& queue, std::string_view payload,
                       const job_options& options) {
  return write([&](transaction& tx) {
    return jobs::enqueue(tx, queue, payload, options);
  });
}

std::vector<job> store::claim(const queue_name& queue, int max,
                              std::string_view worker) {
  return write(
    [&](transaction& tx) { return claims::claim(tx, queue, worker, max); });
}

job store::claim(const queue_name& queue, std::string_view worker) {
  auto found = claim(queue, 1, worker);
  REQUIRE(found.size() == 1);
  return found.front();
}

void store::ack(const claim_handle& claim) {
  write([&](transaction& tx) { claims::ack(tx, claim); });
}

void store::retry(const claim_handle& claim, std::string_view error,
                  std::optional<millis> delay) {
  write([&](transaction& tx) { claims::retry(tx, claim, error, delay); });
}

void store::fail(const claim_handle& claim, std::string_view error) {
  write([&](transaction& tx) { claims::fail(tx, claim, error); });
}

void store::release(const claim_handle& claim) {
  write([&](transaction& tx) { claims::release(tx, claim); });
}

claim_handle store::heartbeat(const claim_handle& claim, millis extend) {
  return write(
    [&](transaction& tx) { return claims::heartbeat(tx, claim, extend); });
}

job store::get(int64_t id) {
  transaction tx{db, transaction::access::read};
  return jobs::get(tx, id);
}

schedule store::add(const char* name, const char* spec, job_options options) {
  return write([&](transaction& tx) {
    return schedules::add(tx, {name, spec, "q", "p", options});
  });
}

lease store::lead(std::string_view owner, millis ttl) {
  auto taken = write([&](transaction& tx) {
    return leases::acquire(tx, leases::scheduler, owner, ttl);
  });
  REQUIRE(taken);
  return *taken;
}

tick_report store::tick(const lease& leadership) {
  return write(
    [&](transaction& tx) { return schedules::tick(tx, leadership); });
}

std::vector<timestamp> store::fired_at(const lease& leadership, timestamp now) {
  time.set(now);
  std::vector<timestamp> out;
  for (auto& x : tick(leadership).fired)
    out.push_back(x.fire_at);
  return out;
}

timestamp store::next_fire_at(const char* schedule) {
  transaction tx{db, transaction::access::read};
  return schedules::get(tx, schedule).next_fire_at;
}

int64_t store::number(const char* sql) {
  transaction tx{db, transaction::access::read};
  auto row = tx.sql(sql);
  REQUIRE(row.step());
  return row.integer(0);
}

witness::witness(const store& of)
  : db_(of.db.path(), {.read_only = true}, of.time),
    version_(db_.data_version()),
    rows_(rows()) {}

bool witness::saw_nothing() {
  return db_.data_version() == version_ && rows() == rows_;
}

std::string witness::rows() {
  std::string all;
  transaction tx{db_, transaction::access::read};
  auto tables = tx.sql("SELECT name FROM sqlite_schema WHERE type = 'table'"
                       " AND name LIKE 'alkstore%' ORDER BY name");
  while (tables.step()) {
    auto name = tables.bytes(0);
    sqlite3_stmt* raw = nullptr;
    REQUIRE(sqlite3_prepare_v2(tx.handle(), ("SELECT * FROM " + name).c_str(),
                               -1, &raw, nullptr)
            == SQLITE_OK);
    statement row{tx.handle(), raw};
    while (row.step()) {
      all += name + ":";
      for (int i = 0; i < sqlite3_column_count(raw); ++i)
        all += row.bytes(i) + "|";
    }
  }
  return all;
}

} // namespace alkstore
