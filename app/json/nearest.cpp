#include "app/json/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace alkstore {

namespace {

constexpr size_t longest = 40;

} // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string did_you_mean(std::string_view wanted,
                         std::span<const std::string_view> known) {
  if (wanted.empty())
    return "";
  wanted = wanted.substr(0, longest);
  auto least = std::max<size_t>(1, wanted.size() / 2) + 1;
  std::string_view found;
  for (auto name : known)
    if (auto d = name.starts_with(wanted) ? 1 : edit_distance(wanted, name);
        d < least) {
      least = d;
      found = name;
    }
  return found.empty() ? "" : "; the nearest one is " + shown(found);
}

std::string shown(std::string_view text) {
  std::string out = "\"";
  for (char c : text.substr(0, longest))
    out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > longest ? "...\"" : "\"");
}

} // namespace alkstore
