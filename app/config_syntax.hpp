// The shape of a configuration file: `group { key = value }`, with the lines
// on which things stand and with duplicates kept, as CAF's parser does not.
#pragma once

#include "app/config_finding.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace alkstore {

struct config_member;

/// A value as it stands in the file, not yet judged.
struct config_node {
  enum class kind {
    text, ///< in double quotes; `text` has the escapes resolved
    bare, ///< `true`, `17`, `5s`: `text` is what stands there
    list, ///< `[ … ]`: `items`
    map,  ///< `{ … }`: `members`, in order, duplicates included
    none, ///< could not be read, and there is a finding that says so
  };

  kind what = kind::none;
  size_t line = 0;
  std::string text;
  std::vector<config_node> items;
  std::vector<config_member> members;
};

struct config_member {
  std::string key;
  size_t line = 0;
  config_node value;
};

/// A file taken apart.
struct config_syntax {
  /// A map of all top-level `alkstore { … }`; one of them is the rule.
  config_node root;

  /// The file's text for CAF: every `alkstore` block, comment and carriage
  /// return blanked out, so that lines keep their numbers.
  std::string rest;
};

/// Takes `text` apart: what CAF 0.17.6 reads (a value on its key's line,
/// members parted by a comma or a new line, strings with the escapes
/// `\n \r \t \\ \"` that end on their line), with `;` and `#` for comments and
/// quoted keys on top. Other top-level groups are passed over unread. Never
/// fails: what cannot be read becomes a finding that does not repeat the text
/// (it may be a secret), and reading goes on behind it. Nesting is bounded at
/// 32, also in what is passed over: CAF's parser recurses without a bound.
config_syntax parse_config(std::string_view text, finding_list& findings);

} // namespace alkstore
