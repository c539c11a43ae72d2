// examples/feed as a child process.
#pragma once

#include "tests/system/child_process.hpp"

namespace alkstore::test {

/// Puts each line of the file `input` into the outbox `hooks` of the file
/// `store`. It prints `<line> <job id>` for each that is on disk.
inline child_options feeding(const std::string& store, const std::string& input,
                             const std::string& visibility = "60s") {
  child_options out;
  out.argv = {ALKSTORE_FEED, "--database=" + store, "--outbox=hooks",
              "--visibility-timeout=" + visibility};
  out.input = input;
  return out;
}

} // namespace alkstore::test
