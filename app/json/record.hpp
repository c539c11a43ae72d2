// What the command line and the SQLite extension show of a row: names and
// values, to be written as JSON or as a table.
#pragma once

#include "substrate/time.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace alkstore {

/// Bytes that may be no text, like a payload.
struct raw_bytes {
  std::string value;
};

/// Nothing is JSON's null.
using cell = std::variant<std::monostate, bool, int64_t, std::string, raw_bytes,
                          timestamp, millis>;

struct field {
  std::string key; ///< lower case with `_`; of a millis it ends in `_ms`
  cell value;
};

/// The fields of one thing, in the order in which they are shown.
using record = std::vector<field>;

/// A cell for a value that may be missing.
template <class T>
cell maybe(const T& value) {
  return value ? cell{*value} : cell{};
}

/// A cell for a text of which the empty one stands for none.
inline cell maybe_text(const std::string& text) {
  return text.empty() ? cell{} : cell{text};
}

} // namespace alkstore
