// The configuration file's reader.
#include "app/config_reader.hpp"
#include "tests/fuzz/targets.hpp"

#include <algorithm>

namespace alkstore::fuzz {

void config(std::string_view input) {
  // It reads the files that the text names: no device may come to be one.
  for (auto folder : {"/dev", "/proc", "/sys", "~"})
    if (input.find(folder) != std::string_view::npos)
      return;
  auto result = read_config_text(input);
  auto lines = static_cast<size_t>(std::count(input.begin(), input.end(), '\n'))
               + 1;
  size_t last = 0;
  for (auto& x : result.findings) {
    require(x.line <= lines, "a finding's line is in the file");
    require(x.line == 0 || x.line >= last, "findings are in order");
    last = x.line;
    require(!render("f", x).empty(), "a finding has a text");
  }
  if (input.find('\0') != std::string_view::npos)
    return require(result.findings.size() == 1, "no text");
  require(std::count(result.rest.begin(), result.rest.end(), '\n')
            == std::count(input.begin(), input.end(), '\n'),
          "lines keep their numbers");
  if (result.findings.empty()) {
    // CAF is given what is left: nothing of ours is in there.
    require(read_config_text(result.rest).rest == result.rest,
            "what is left stays");
    auto& x = result.config;
    require(x.lease_ttl >= x.lease_renew * 2, "a lease outlives a renewal");
    require(x.max_payload > 0 && x.wal_limit > 0, "limits are positive");
    require(!x.database.empty(), "there is a database");
  }
}

} // namespace alkstore::fuzz
