// What commands print: for people a table, with --json JSON.
#pragma once

#include "app/json/record.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace alkstore::cli {

class output {
public:
  output(bool json, bool utc) : json_(json), utc_(utc) {}

  /// A thing, a line per field that is not null.
  void show(const record& what) const;

  /// Things, a line each with these of their fields, under a heading.
  void show(const std::vector<record>& rows,
            std::initializer_list<std::string_view> columns) const;

  /// What was done: the sentence, or the record.
  void tell(const std::string& sentence, const record& what) const;

private:
  std::string text(const cell& what) const;

  bool json_;
  bool utc_;
};

/// A text as a terminal may have it: control characters shown as `\xNN`, and
/// what is no UTF-8 as U+FFFD.
std::string printable(std::string_view raw);

} // namespace alkstore::cli
