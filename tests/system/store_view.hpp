// A look at, and a hand in, the file that the nodes under test work on.
#pragma once

#include "substrate/connection.hpp"
#include "substrate/job.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace alkstore::test {

/// Puts messages into an outbox, in one transaction of this process's own.
/// Their ids.
std::vector<int64_t> put_messages(const std::string& file,
                                  const std::string& outbox,
                                  const std::vector<std::string>& payloads,
                                  const job_options& options = {});

inline int64_t put_message(const std::string& file, const std::string& outbox,
                           const std::string& payload,
                           const job_options& options = {}) {
  return put_messages(file, outbox, {payload}, options).front();
}

/// Reads what is committed.
class store_view {
public:
  explicit store_view(const std::string& file);

  /// The one number that a query answers. A literal.
  int64_t number(const char* query);
  std::string text(const char* query);

  /// A live job or a dead letter.
  job get(int64_t id);

  /// The dead letters of an outbox.
  std::vector<job> dead(const std::string& outbox);

  /// Of all jobs and dead letters.
  std::set<std::string> payloads();

  /// The boundaries in the queues, per schedule: those of jobs nobody works on.
  std::map<std::string, std::multiset<timestamp>> boundaries();

  /// What is wrong with them: one fired twice, one missing before the next, or
  /// a next one that does not follow. Empty: nothing, and there are some.
  std::string boundary_faults(millis interval);

private:
  connection db_;
};

} // namespace alkstore::test
