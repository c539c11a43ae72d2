// Every key of the `alkstore { … }` block. The reader, `--help` and the
// reference in docs/ come from this one table.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace alkstore {

/// What a key's value must be.
enum class key_type {
  text,     ///< in double quotes
  boolean,  ///< true or false
  integer,  ///< decimal
  duration, ///< `15s` or `"15s"`, units ms s min h d
  bytes,    ///< `65536`, `64KiB` or `"64KiB"`, units KiB MiB GiB
  words,    ///< a list of texts
  headers,  ///< a map of texts
  entries,  ///< a list of maps, read by the section of the key's name
  section,  ///< one map, read by the section of the key's name
};

/// One key. Its values are written as they stand in a file, texts without the
/// quotes; an empty one means that there is none.
struct config_key {
  std::string_view name;
  key_type type;
  std::string_view fallback = {}; ///< taken where the key is missing
  std::string_view least = {};    ///< the range of a number, inclusive
  std::string_view most = {};
  std::string_view choices = {}; ///< the only texts allowed, between blanks
  bool required = false;
  std::string_view meaning; ///< one line without a full stop
};

/// The keys of one map. `name` is `alkstore`, or the key in it that holds such
/// a map or a list of them.
struct config_section {
  std::string_view name;
  std::string_view meaning;
  std::span<const config_key> keys;

  /// Nullptr if the section has no such key.
  const config_key* find(std::string_view key) const;
};

std::span<const config_section> config_sections();

/// Requires a name that there is.
const config_section& find_section(std::string_view name);

/// What was probably meant by a name that is no key of the section, as the end
/// of a sentence; empty if nothing is near.
std::string suggestion(const config_section& section, std::string_view name);

/// What a value of that type looks like, with an article.
std::string_view type_text(key_type type);

} // namespace alkstore
