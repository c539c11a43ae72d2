// Reads the node's configuration file.
#pragma once

#include "app/config.hpp"
#include "app/config_finding.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace alkstore {

/// What a file came to. The node starts only where `findings` is empty; what
/// was refused has its default in `config` then, or is left out.
struct config_result {
  node_config config;
  std::vector<finding> findings;  ///< by line
  std::vector<std::string> notes; ///< to be said, but no reason to refuse
  std::string rest;               ///< the file for CAF, see config_syntax::rest
};

/// Reads the file of at most 4 MiB that `path` names; `~/` is expanded. All
/// that is wrong with it is found in one run. A file that cannot be read is one
/// finding with its path and the reason.
config_result read_config(const std::string& path);

/// The same for a file's text. Reads the files that it names.
config_result read_config_text(std::string_view text);

} // namespace alkstore
