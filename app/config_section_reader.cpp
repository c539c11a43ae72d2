#include "app/config_section_reader.hpp"

#include "app/units.hpp"

namespace alkstore {

namespace {

using kind = config_node::kind;

bool is_duration(std::string_view text) {
  try {
    parse_duration(text);
    return true;
  } catch (const failure&) {
    return false;
  }
}

bool is_boolean(const config_node& node) {
  return node.what == kind::bare
         && (node.text == "true" || node.text == "false");
}

bool is_number(const config_node& node) {
  return node.what == kind::bare && !node.text.empty()
         && std::string_view{"0123456789+-."}.find(node.text[0])
              != std::string_view::npos
         && !is_duration(node.text);
}

std::string kind_text(const config_node& node) {
  switch (node.what) {
    case kind::text: return "a text";
    case kind::list: return "a list";
    case kind::map: return "a map";
    default: break;
  }
  if (is_boolean(node))
    return "a boolean";
  if (is_number(node))
    return "a number";
  return is_duration(node.text) ? "a duration" : "a word without quotes";
}

std::string mismatch(key_type wanted, const config_node& node) {
  return "must be " + std::string{type_text(wanted)} + ", is "
         + kind_text(node);
}

void expect(bool right, key_type wanted, const config_node& node) {
  if (!right)
    refuse_value(mismatch(wanted, node));
}

// True for what may be a duration or a size, with or without quotes.
bool is_quantity(const config_node& node) {
  return node.what == kind::text
         || (node.what == kind::bare && !is_boolean(node));
}

void check_choice(std::string_view choices, const std::string& value) {
  auto among = std::string{" "}.append(choices).append(" ");
  if (value.find(' ') != std::string::npos
      || among.find(" " + value + " ") == std::string::npos)
    refuse_value("must be one of: " + std::string{choices});
}

template <class T>
T in_range(const config_key& key, T value, T (*parse)(std::string_view)) {
  if (!key.most.empty()
      && (value < parse(key.least) || value > parse(key.most)))
    refuse_value("must be " + std::string{key.least} + " to "
                 + std::string{key.most} + ": " + std::string{key.meaning});
  return value;
}

int64_t number_of(const config_key& key, const config_node& node) {
  if (key.type == key_type::bytes) {
    expect(is_quantity(node), key.type, node);
    return in_range(key, parse_bytes(node.text), parse_bytes);
  }
  expect(is_number(node), key.type, node);
  return in_range(key, parse_integer(node.text), parse_integer);
}

} // namespace

void refuse_value(const std::string& why) {
  throw failure{errc::invalid_argument, why};
}

section_reader::section_reader(const config_section& section,
                               const config_node& map, std::string path,
                               finding_list& findings)
  : section_(&section),
    map_(&map),
    path_(std::move(path)),
    findings_(&findings) {
  for (auto& member : map.members) {
    if (findings.full())
      break;
    auto where = path_of(member.key);
    if (section.find(member.key) == nullptr) {
      auto hint = suggestion(section, member.key);
      findings.add(member.line, where,
                   "unknown key" + (hint.empty() ? "" : "; " + hint));
    } else if (!members_.emplace(member.key, &member).second) {
      findings.add(member.line, where,
                   "is given twice, in line " + std::to_string(line(member.key))
                     + " and in line " + std::to_string(member.line));
    }
  }
  for (auto& [key, member] : members_)
    if (member->value.what == kind::none)
      refused_.emplace(key);
  for (auto& key : section.keys)
    if (key.required && !has(key.name))
      refuse(key.name, "is missing: " + std::string{type_text(key.type)});
}

bool section_reader::has(std::string_view key) const {
  return members_.find(key) != members_.end();
}

size_t section_reader::line(std::string_view key) const {
  auto found = members_.find(key);
  return found == members_.end() ? map_->line : found->second->line;
}

void section_reader::refuse(std::string_view key, std::string reason) {
  refused_.emplace(key);
  findings_->add(line(key), key.empty() ? path_ : path_of(key),
                 std::move(reason));
}

std::string section_reader::path_of(std::string_view key) const {
  return path_ + "." + std::string{key};
}

std::string section_reader::path_of(std::string_view key, size_t item) const {
  return path_of(key) + "[" + std::to_string(item) + "]";
}

template <class Use>
void section_reader::with(std::string_view key, Use use) {
  auto& row = *section_->find(key);
  if (has(key)) {
    check(key, [&] { use(row, members_.at(key)->value); });
  } else if (!row.fallback.empty()) {
    config_node node;
    node.what = row.type == key_type::text ? kind::text : kind::bare;
    node.text = row.fallback;
    use(row, node);
  }
}

std::optional<std::string> section_reader::text_of(const config_node& node,
                                                   std::string_view key,
                                                   const std::string& path) {
  if (node.what == kind::text)
    return node.text;
  refused_.emplace(key);
  if (node.what != kind::none)
    findings_->add(node.line, path, mismatch(key_type::text, node));
  return std::nullopt;
}

void section_reader::get(std::string_view key, std::string& out) {
  with(key, [&](const config_key& row, const config_node& node) {
    expect(node.what == kind::text, row.type, node);
    if (!row.choices.empty())
      check_choice(row.choices, node.text);
    out = node.text;
  });
}

void section_reader::get(std::string_view key, bool& out) {
  with(key, [&](const config_key& row, const config_node& node) {
    expect(is_boolean(node), row.type, node);
    out = node.text == "true";
  });
}

void section_reader::get(std::string_view key, int& out) {
  int64_t value = out;
  get(key, value);
  out = static_cast<int>(value);
}

void section_reader::get(std::string_view key, int64_t& out) {
  with(key, [&](const config_key& row, const config_node& node) {
    out = number_of(row, node);
  });
}

void section_reader::get(std::string_view key, millis& out) {
  with(key, [&](const config_key& row, const config_node& node) {
    expect(is_quantity(node), row.type, node);
    out = in_range(row, parse_duration(node.text), parse_duration);
  });
}

void section_reader::get(std::string_view key, std::vector<std::string>& out) {
  with(key, [&](const config_key& row, const config_node& node) {
    expect(node.what == kind::list, row.type, node);
    for (size_t i = 0; i < node.items.size(); ++i)
      if (auto value = text_of(node.items[i], key, path_of(key, i)))
        out.push_back(*value);
  });
}

void section_reader::get(
  std::string_view key, std::vector<std::pair<std::string, std::string>>& out) {
  with(key, [&](const config_key& row, const config_node& node) {
    expect(node.what == kind::map, row.type, node);
    for (auto& member : node.members)
      if (auto value = text_of(member.value, key,
                               path_of(key) + "." + member.key))
        out.emplace_back(member.key, *value);
  });
}

std::optional<section_reader> section_reader::map(std::string_view key) {
  std::optional<section_reader> reader;
  with(key, [&](const config_key& row, const config_node& node) {
    expect(node.what == kind::map, row.type, node);
    reader.emplace(find_section(key), node, path_of(key), *findings_);
  });
  return reader;
}

std::vector<section_reader> section_reader::entries(std::string_view key) {
  std::vector<section_reader> readers;
  with(key, [&](const config_key& row, const config_node& node) {
    expect(node.what == kind::list, row.type, node);
    for (size_t i = 0; i < node.items.size() && !findings_->full(); ++i) {
      auto& item = node.items[i];
      auto path = path_of(key, i);
      if (item.what == kind::map)
        readers.emplace_back(find_section(key), item, path, *findings_);
      else if (item.what != kind::none)
        findings_->add(item.line, path,
                       "must be a { } map, is " + kind_text(item));
    }
  });
  return readers;
}

} // namespace alkstore
