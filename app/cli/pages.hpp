// The manual page and the completion of bash, made from what the parser of the
// command line knows, so that neither can miss a command or an option.
#pragma once

#include <string>
#include <vector>

namespace alkstore::cli {

struct option_page {
  std::vector<std::string> names; ///< `-d`, `--database`; none: positional
  std::string argument;           ///< `FILE`; empty for a flag
  std::string description;
};

struct command_page {
  std::string name; ///< all of it: `alkstore schedule add`
  std::string description;
  std::string example; ///< a line each; none for one that has commands
  std::vector<option_page> options;
  std::vector<command_page> commands;
};

/// In the language of man(7).
std::string manual_page(const command_page& program,
                        const std::string& version);

/// A script to be sourced.
std::string bash_completion(const command_page& program);

} // namespace alkstore::cli
