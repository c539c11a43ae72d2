#include "substrate/text.hpp"

#include "tests/catch.hpp"

using namespace alkstore;

namespace {

const std::string replaced = "\xEF\xBF\xBD";

} // namespace

TEST_CASE("H38: what is valid UTF-8 is kept byte for byte") {
  for (std::string text :
       {"", "plain", "tab\tline\n", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80",
        "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80",
        "\xF4\x8F\xBF\xBF"})
    CHECK(error_text(text) == text);
}

TEST_CASE("H38: each byte that is no text becomes U+FFFD, a NUL too") {
  using namespace std::string_literals;
  CHECK(error_text("a\0b"s) == "a" + replaced + "b");
  CHECK(error_text("\x80") == replaced);
  CHECK(error_text("\xC3(") == replaced + "(");
  CHECK(error_text("\xC3\x28\x00\xFF"s)
        == replaced + "(" + replaced + replaced);
  CHECK(error_text("\xC0\xAF") == replaced + replaced); // overlong
  CHECK(error_text("\xE0\x80\x80") == replaced + replaced + replaced);
  CHECK(error_text("\xF0\x80\x80\x80")
        == replaced + replaced + replaced + replaced);
  CHECK(error_text("\xED\xA0\x80") == replaced + replaced + replaced);
  CHECK(error_text("\xF4\x90\x80\x80")
        == replaced + replaced + replaced + replaced);
  CHECK(error_text("\xF5") == replaced);
  CHECK(error_text("\xE2\x82") == replaced + replaced); // cut off
  CHECK(error_text("\xF0\x9F\x98") == replaced + replaced + replaced);
}

TEST_CASE("H38: a text is cut at 4096 bytes, between characters") {
  CHECK(error_text(std::string(4096, 'e')) == std::string(4096, 'e'));
  CHECK(error_text(std::string(2 << 20, 'e')) == std::string(4096, 'e'));
  CHECK(error_text(std::string(4095, 'e') + "\xC3\xA9")
        == std::string(4095, 'e'));
  CHECK(error_text(std::string(4094, 'e') + "\xC3\xA9")
        == std::string(4094, 'e') + "\xC3\xA9");
  CHECK(error_text(std::string(4094, 'e') + "\xFF") == std::string(4094, 'e'));
}

TEST_CASE("bytes are shown as lower-case hex") {
  using namespace std::string_literals;
  CHECK(to_hex("") == "");
  CHECK(to_hex("\x00\x0F\xA5\xFF"s) == "000fa5ff");
}
