#include "app/config_reference.hpp"

#include "app/config_table.hpp"

#include <algorithm>

namespace alkstore {

namespace {

std::string range_text(const config_key& key) {
  if (!key.choices.empty())
    return "one of: " + std::string{key.choices};
  std::string text{key.least};
  return key.most.empty() ? text : text.append(" to ").append(key.most);
}

std::string fallback_text(const config_key& key) {
  return key.required ? "required" : std::string{key.fallback};
}

std::string code(const std::string& text) {
  return text.empty() ? text : "`" + text + "`";
}

} // namespace

std::string config_reference() {
  std::string out;
  for (auto& section : config_sections()) {
    out.append(out.empty() ? "" : "\n").append("## `").append(section.name);
    out.append("`: ").append(section.meaning);
    out += "\n\n| Key | Value | Default | Range | Meaning |\n"
           "| --- | --- | --- | --- | --- |\n";
    for (auto& key : section.keys) {
      auto fallback = fallback_text(key);
      out.append("| `").append(key.name).append("` | ");
      out.append(type_text(key.type)).append(" | ");
      out.append(key.required ? fallback : code(fallback)).append(" | ");
      out.append(range_text(key)).append(" | ");
      out.append(key.meaning).append(" |\n");
    }
  }
  return out;
}

std::string config_help() {
  constexpr size_t column = 24;
  std::string out;
  for (auto& section : config_sections()) {
    out.append(out.empty() ? "" : "\n").append(section.name);
    out.append(" (").append(section.meaning).append(")\n");
    for (auto& key : section.keys) {
      std::string name = "  " + std::string{key.name};
      name.resize(std::max(column, name.size() + 1), ' ');
      std::string indent(column, ' ');
      out.append(name).append(key.meaning).append("\n").append(indent);
      out.append(type_text(key.type));
      if (auto range = range_text(key); !range.empty())
        out.append(", ").append(range);
      if (auto fallback = fallback_text(key); !fallback.empty())
        out.append(key.required ? ", " : ", default ").append(fallback);
      out.append("\n");
    }
  }
  return out;
}

} // namespace alkstore
