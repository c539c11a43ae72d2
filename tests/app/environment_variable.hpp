// An environment variable that a test sets for a while.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>

namespace alkstore::test {

/// Set before the threads that read it, and unset after them.
class environment_variable {
public:
  environment_variable(std::string name, const std::string& value)
    : name_(std::move(name)) {
    ::setenv(name_.c_str(), value.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
  }

  environment_variable(const environment_variable&) = delete;
  environment_variable& operator=(const environment_variable&) = delete;

  ~environment_variable() {
    ::unsetenv(name_.c_str()); // NOLINT(concurrency-mt-unsafe)
  }

private:
  std::string name_;
};

} // namespace alkstore::test
