// Reads one map of a configuration file by its section of the table.
#pragma once

#include "app/config_syntax.hpp"
#include "app/config_table.hpp"
#include "substrate/error.hpp"
#include "substrate/time.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alkstore {

/// For checks: throws a failure (invalid_argument) with that text.
[[noreturn]] void refuse_value(const std::string& why);

/// One map. Whatever is wrong with it goes to the findings, under the map's
/// path and the key, once a key, and the value asked for stays as it was.
class section_reader {
public:
  /// Reports unknown and repeated keys, and required ones that are missing. All
  /// arguments must outlive the reader. `path` is as in finding::key.
  section_reader(const config_section& section, const config_node& map,
                 std::string path, finding_list& findings);

  /// True if the file has the key, whatever its value.
  bool has(std::string_view key) const;

  /// The value, or the table's default where the file has none. The key must
  /// be of the value's type in the table.
  void get(std::string_view key, std::string& out);
  void get(std::string_view key, bool& out);
  void get(std::string_view key, int& out);
  void get(std::string_view key, int64_t& out);
  void get(std::string_view key, millis& out);
  void get(std::string_view key, std::vector<std::string>& out);
  void get(std::string_view key,
           std::vector<std::pair<std::string, std::string>>& out);

  /// The value if the file has one.
  template <class T>
  void get(std::string_view key, std::optional<T>& out) {
    if (T value{}; has(key)) {
      get(key, value);
      out = std::move(value);
    }
  }

  /// The one map of a key, if the file has it.
  std::optional<section_reader> map(std::string_view key);

  /// The maps of a list.
  std::vector<section_reader> entries(std::string_view key);

  /// Runs a check of a key that the file has and nothing was found about yet,
  /// and reports the failure that it throws.
  template <class Check>
  void check(std::string_view key, Check run) {
    try {
      if (has(key) && !refused_.contains(key))
        run();
    } catch (const failure& why) {
      refuse(key, why.what());
    }
  }

  /// Reports a fault of the key, or of the map as a whole (an empty key).
  void refuse(std::string_view key, std::string reason);

  /// Where a key that the file has stands, or else the map.
  size_t line(std::string_view key) const;

private:
  // Calls use(key of the table, value) and reports what it throws.
  template <class Use>
  void with(std::string_view key, Use use);

  // The text of one value in the key's list or map; what is none is reported.
  std::optional<std::string> text_of(const config_node& node,
                                     std::string_view key,
                                     const std::string& path);

  std::string path_of(std::string_view key) const;
  std::string path_of(std::string_view key, size_t item) const;

  const config_section* section_;
  const config_node* map_;
  std::string path_;
  finding_list* findings_;
  std::map<std::string_view, const config_member*> members_;
  std::set<std::string, std::less<>> refused_;
};

} // namespace alkstore
