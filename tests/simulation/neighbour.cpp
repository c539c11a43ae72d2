#include "tests/simulation/neighbour.hpp"

#include "substrate/jobs.hpp"
#include "tests/simulation/world.hpp"

namespace alkstore::sim {

neighbour::neighbour(world& outside)
  : outside_(outside),
    process_(outside.new_process()),
    time_(outside.here, millis{0}),
    payload_("n" + std::to_string(process_)) {
  running as{outside_.here, process_};
  outside_.notes.note("a neighbour takes the write lock");
  outside_.rules.asked_for("work", payload_);
  if (sqlite3_open(outside_.path().c_str(), &db_) == SQLITE_OK
      && run("BEGIN IMMEDIATE"))
    id_ = enqueue_tx(db_, "work", payload_, {}, {}, time_);
}

neighbour::~neighbour() {
  running as{outside_.here, process_};
  sqlite3_close(db_);
}

void neighbour::end() {
  running as{outside_.here, process_};
  auto how = id_ == 0 ? 0 : outside_.luck.below(4);
  outside_.notes.note("the neighbour ends its transaction, way "
                      + std::to_string(how));
  if (how == 0)
    run("ROLLBACK");
  else if (how == 1)
    outside_.files.kill(process_);
  else if (run("COMMIT"))
    return;
  outside_.judge([&] { outside_.rules.refused("work", payload_); });
}

bool neighbour::run(const char* text) {
  return sqlite3_exec(db_, text, nullptr, nullptr, nullptr) == SQLITE_OK;
}

} // namespace alkstore::sim
