#include "app/config_reader.hpp"
#include "app/config_reference.hpp"
#include "tests/catch.hpp"

#include <fstream>
#include <iterator>

using namespace alkstore;

namespace {

std::string text_of(const std::string& file) {
  std::ifstream in{std::string{ALKSTORE_SOURCE_DIR} + "/" + file};
  REQUIRE(in);
  return {std::istreambuf_iterator<char>{in}, {}};
}

// The configuration in the README's indented block that starts with `head`.
std::string block(const std::string& text, const std::string& head) {
  auto at = text.find("    " + head);
  REQUIRE(at != std::string::npos);
  return text.substr(at, text.find("\n    }\n", at) + 7 - at);
}

} // namespace

TEST_CASE("docs/configuration.md holds the table that the reader checks") {
  CHECK(text_of("docs/configuration.md").find(config_reference())
        != std::string::npos);
}

TEST_CASE("the README's configuration is one that the node takes") {
  auto result = read_config_text(block(text_of("README.md"), "alkstore {"));
  for (auto& x : result.findings)
    FAIL_CHECK(render("README.md", x));
  CHECK(result.config.schedules.size() == 1);
  CHECK(result.config.queues.size() == 1);
  CHECK(result.config.outboxes.size() == 1);
}
