#include "app/config_finding.hpp"

#include <algorithm>

namespace alkstore {

namespace {

// What a file holds may be anything; what a finding prints may not.
std::string printable(std::string text, size_t most) {
  if (text.size() > most)
    text = text.substr(0, most) + "...";
  for (char& c : text)
    if (c < ' ' || c > '~')
      c = '?';
  return text;
}

} // namespace

void finding_list::add(size_t line, std::string key, std::string reason) {
  if (!full())
    items_.push_back({line, printable(std::move(key), 200),
                      printable(std::move(reason), 400)});
}

std::vector<finding> finding_list::take() {
  auto by_line = [](const finding& a, const finding& b) {
    return a.line < b.line;
  };
  std::stable_sort(items_.begin(), items_.end(), by_line);
  if (full())
    items_.push_back({0, "",
                      "there may be more: only the first "
                        + std::to_string(most) + " are told"});
  return std::move(items_);
}

std::string render(const std::string& path, const finding& what) {
  auto text = path + ":";
  if (what.line != 0)
    text += std::to_string(what.line) + ":";
  if (!what.key.empty())
    text += " " + what.key + ":";
  return text + " " + what.reason;
}

} // namespace alkstore
