// Another process: a role of this program, or a node.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace alkstore::bench {

/// A running program whose standard input and output are pipes. Killed when
/// the object goes and it still runs.
class child {
public:
  /// Throws std::runtime_error if it cannot be started.
  explicit child(const std::vector<std::string>& argv);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child();

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;

  void send(char byte) const;

  /// Reads exactly `size` bytes of its output. False at its end.
  bool receive(void* to, size_t size) const;

  /// The next line of its output that holds `what`. Throws std::runtime_error
  /// if the output ends without one.
  std::string line_with(const std::string& what);

private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string rest_; ///< read, not yet a line
};

/// The path of a program in this one's directory; this one's without a name.
std::string program(const std::string& name = {});

} // namespace alkstore::bench
