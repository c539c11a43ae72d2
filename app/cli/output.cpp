#include "app/cli/output.hpp"

#include "app/json/json.hpp"
#include "app/json/time_text.hpp"
#include "substrate/text.hpp"

#include <algorithm>
#include <iostream>

namespace alkstore::cli {

namespace {

// Where a terminal shows one character for each code point.
size_t width(std::string_view text) {
  return static_cast<size_t>(
    std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
    }));
}

std::string title(std::string_view key) {
  if (key.ends_with("_ms")) // durations are shown with a unit of their own
    key.remove_suffix(3);
  std::string out{key};
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

// Long texts: a table's line should stay one.
std::string clipped(std::string text, size_t most) {
  if (width(text) <= most)
    return text;
  auto end = text.begin();
  for (size_t seen = 0; end != text.end(); ++end)
    if ((static_cast<unsigned char>(*end) & 0xC0u) != 0x80u
        && ++seen > most - 3)
      break;
  text.erase(end, text.end());
  return text + "...";
}

std::string bytes_text(const std::string& raw) {
  // NUL is UTF-8, but nothing that anybody would read.
  if (error_text(raw) != raw.substr(0, max_error_bytes)
      || raw.find('\0') != std::string::npos)
    return std::to_string(raw.size()) + " bytes that are no text";
  return raw.size() > max_error_bytes
           ? printable(raw.substr(0, max_error_bytes)) + "... ("
               + std::to_string(raw.size()) + " bytes)"
           : printable(raw);
}

bool is_number(const cell& what) {
  return std::holds_alternative<int64_t>(what);
}

} // namespace

std::string printable(std::string_view raw) {
  std::string out;
  for (char c : error_text(raw)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F)
      out += c;
    else
      out += "\\x" + to_hex({&c, 1});
  }
  return out;
}

std::string output::text(const cell& what) const {
  struct {
    bool utc;
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool x) const { return x ? "yes" : "no"; }
    std::string operator()(int64_t x) const { return std::to_string(x); }
    std::string operator()(const std::string& x) const { return printable(x); }
    std::string operator()(const raw_bytes& x) const {
      return bytes_text(x.value);
    }
    std::string operator()(timestamp x) const {
      return utc ? utc_text(x) : local_text(x);
    }
    std::string operator()(millis x) const { return duration_text(x); }
  } visitor{utc_};
  return std::visit(visitor, what);
}

void output::show(const record& what) const {
  if (json_) {
    std::cout << to_json(what) << '\n';
    return;
  }
  size_t widest = 0;
  for (auto& x : what)
    widest = std::max(widest, title(x.key).size());
  for (auto& x : what) {
    if (std::holds_alternative<std::monostate>(x.value))
      continue;
    auto name = title(x.key);
    name.resize(widest + 2, ' ');
    std::cout << name << text(x.value);
    // A person compares with a log in UTC, and with the clock on the wall.
    if (auto when = std::get_if<timestamp>(&x.value); when != nullptr && !utc_)
      std::cout << " (" << utc_text(*when) << ')';
    std::cout << '\n';
  }
}

void output::show(const std::vector<record>& rows,
                  std::initializer_list<std::string_view> columns) const {
  if (json_) {
    std::cout << to_json(rows) << '\n';
    return;
  }
  if (rows.empty())
    return;
  std::vector<std::string> lines(rows.size() + 1);
  for (auto key : columns) {
    std::vector<std::string> cells{title(key)};
    auto right = false;
    for (auto& row : rows) {
      auto found = std::find_if(row.begin(), row.end(),
                                [&](const field& x) { return x.key == key; });
      cells.push_back(found == row.end() ? "" : text(found->value));
      if (key == "last_error") // up to 4 KiB; the others are short
        cells.back() = clipped(std::move(cells.back()), 60);
      right = right || (found != row.end() && is_number(found->value));
    }
    size_t widest = 0;
    for (auto& x : cells)
      widest = std::max(widest, width(x));
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string pad(widest - width(cells[i]), ' ');
      lines[i] += (lines[i].empty() ? "" : "  ")
                  + (right ? pad + cells[i] : cells[i] + pad);
    }
  }
  for (auto& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    std::cout << line << '\n';
  }
}

void output::tell(const std::string& sentence, const record& what) const {
  std::cout << (json_ ? to_json(what) : sentence) << '\n';
}

} // namespace alkstore::cli
