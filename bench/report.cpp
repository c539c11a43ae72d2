#include "bench/report.hpp"

#include "bench/goals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace alkstore::bench {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (auto c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out + '"';
}

std::string json(const std::optional<double>& x) {
  return x ? brief(*x) : "null";
}

} // namespace

double samples::percentile(double p) const {
  auto sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  auto rank = std::ceil(p * static_cast<double>(sorted.size()));
  return sorted.at(static_cast<size_t>(std::max(rank, 1.0)) - 1);
}

figure figure_of(std::string name, std::string unit, const samples& product) {
  figure out;
  out.name = std::move(name);
  out.unit = std::move(unit);
  out.value = product.median();
  out.min = product.min();
  out.max = product.max();
  return out;
}

figure compare(std::string name, std::string unit, const samples& product,
               const samples& raw) {
  auto out = figure_of(std::move(name), std::move(unit), product);
  out.raw = raw.median();
  samples ratios;
  for (size_t i = 0; i < product.values().size(); ++i)
    ratios.add(product.values()[i] / raw.values().at(i));
  out.ratio = ratios.median();
  return out;
}

std::string brief(double x) {
  auto digits = std::abs(x) >= 100 ? 0 : std::abs(x) >= 10 ? 1 : 3;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, x);
  return text;
}

void report::add(figure x) {
  if (x.sharing)
    x.note = "sharing " + brief(*x.sharing) + " of this; " + x.note;
  if (rows_.empty())
    std::printf("%-26s %10s %10s %10s %10s %7s  %-9s %s\n", "name", "value",
                "min", "max", "raw", "ratio", "unit", "note");
  std::printf("%-26s %10s %10s %10s %10s %7s  %-9s %s\n", x.name.c_str(),
              brief(x.value).c_str(), brief(x.min).c_str(),
              brief(x.max).c_str(), x.raw ? brief(*x.raw).c_str() : "",
              x.ratio ? brief(*x.ratio).c_str() : "", x.unit.c_str(),
              x.note.c_str());
  std::fflush(stdout);
  rows_.push_back(std::move(x));
}

void report::add_curve(const std::string& name, const samples& product,
                       const samples& raw) {
  curve x{name, {}};
  for (auto p : {1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99})
    x.lines += std::to_string(p) + ' ' + brief(product.percentile(p / 100.0))
               + ' ' + brief(raw.percentile(p / 100.0)) + '\n';
  curves_.push_back(std::move(x));
}

std::vector<std::string> report::missed_goals(bool whole) const {
  std::vector<std::string> missed;
  for (auto& goal : goals()) {
    auto row = std::find_if(rows_.begin(), rows_.end(), [&](const figure& x) {
      return x.name == goal.name;
    });
    auto measured = row == rows_.end() ? std::nullopt : goal.of(*row);
    if (!measured) {
      if (whole)
        missed.push_back(std::string{goal.name} + ": not measured");
      continue;
    }
    auto line = goal.name + std::string{": "} + goal.what + ' '
                + brief(*measured) + ", goal " + (goal.least ? ">= " : "<= ")
                + brief(goal.bound);
    auto met = goal.least ? *measured >= goal.bound : *measured <= goal.bound;
    std::printf("%s %s\n", met ? "met   " : "MISSED", line.c_str());
    if (!met)
      missed.push_back(line);
  }
  return missed;
}

void report::write(const std::string& path) const {
  std::ofstream out{path};
  out << "[\n";
  for (size_t i = 0; i < rows_.size(); ++i) {
    auto& x = rows_[i];
    out << "  {\"name\": " << quoted(x.name) << ", \"unit\": " << quoted(x.unit)
        << ", \"value\": " << brief(x.value) << ", \"min\": " << brief(x.min)
        << ", \"max\": " << brief(x.max) << ", \"raw\": " << json(x.raw)
        << ", \"ratio\": " << json(x.ratio)
        << ", \"durability\": " << quoted(x.durability)
        << ", \"note\": " << quoted(x.note) << '}'
        << (i + 1 < rows_.size() ? ",\n" : "\n");
  }
  out << "]\n";
  if (!out.flush())
    throw std::runtime_error{"cannot write " + path};
  for (auto& x : curves_) {
    auto file = std::filesystem::path{path}.replace_filename(x.name + ".dat");
    std::ofstream lines{file};
    lines << x.lines;
    if (!lines.flush())
      throw std::runtime_error{"cannot write " + file.string()};
  }
}

} // namespace alkstore::bench
