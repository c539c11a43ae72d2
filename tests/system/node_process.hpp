// alkstore-node, as released, on a configuration of the test's own.
#pragma once

#include "tests/support/rounds.hpp"
#include "tests/system/child_process.hpp"

namespace alkstore::test {

struct node_options {
  std::string program = ALKSTORE_NODE;
  std::vector<std::string> arguments; ///< besides --config-file
  std::vector<std::string> environment;
  bool unprivileged = false;
  std::shared_ptr<line_log> log;
};

/// Runs in `directory`. `block`: what stands between the braces of
/// `alkstore { }`.
class node_process : public child_process {
public:
  node_process(const std::string& directory, const std::string& block,
               node_options options = {});

  /// SIGTERM, and its exit status.
  int stop();
};

/// A new file with that text; answers its path.
std::string write_file(const std::string& path, const std::string& text);

} // namespace alkstore::test
