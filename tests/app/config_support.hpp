// For tests of the configuration: short files, and what is said about them.
#pragma once

#include "app/config_reader.hpp"
#include "tests/catch.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace config_tests {

using namespace alkstore;

inline std::string told(const config_result& result) {
  std::string out;
  for (auto& what : result.findings)
    out += render("f", what) + "\n";
  return out;
}

/// What is said about the inside of the block, which begins in line 1.
inline std::string faults(const std::string& body) {
  return told(read_config_text("alkstore {" + body + "\n}\n"));
}

inline node_config good(const std::string& body) {
  auto result = read_config_text("alkstore {" + body + "\n}\n");
  REQUIRE(told(result) == "");
  return result.config;
}

inline std::string outbox_with(const std::string& keys) {
  return "outboxes = [{ name = \"o\", " + keys + " }]";
}

inline std::string schedule_with(const std::string& keys) {
  return "schedules = [{ name = \"s\", spec = \"@every 1s\", queue = \"q\", "
         + keys + " }]";
}

/// A folder that goes away with the test.
class scratch {
public:
  scratch() {
    std::string pattern = (std::filesystem::temp_directory_path()
                           / "alkstore-XXXXXX");
    root_ = mkdtemp(pattern.data());
    std::filesystem::permissions(root_, std::filesystem::perms{0755});
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() { std::filesystem::remove_all(root_); }

  std::string path(const std::string& name) const { return root_ / name; }

  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream{path(name), std::ios::binary} << text;
    return path(name);
  }

private:
  std::filesystem::path root_;
};

} // namespace config_tests
