#include "app/config_syntax.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <random>
#include <string>

using namespace alkstore;
using Catch::Matchers::EndsWith;

namespace {

// A tree on one line; texts in quotes, what could not be read as `?`.
std::string show(const config_node& node) {
  std::string out;
  switch (node.what) {
    case config_node::kind::text: return '"' + node.text + '"';
    case config_node::kind::bare: return node.text;
    case config_node::kind::none: return "?";
    case config_node::kind::list:
      for (auto& item : node.items)
        out += (out.empty() ? "" : ", ") + show(item);
      return "[" + out + "]";
    case config_node::kind::map:
      for (auto& member : node.members)
        out += (out.empty() ? "" : ", ") + member.key + "@"
               + std::to_string(member.line) + " " + show(member.value);
      return "{" + out + "}";
  }
  return out;
}

struct outcome {
  std::string tree;
  std::string findings;
  std::string rest;
};

outcome parse(const std::string& text) {
  finding_list list;
  auto syntax = parse_config(text, list);
  std::string findings;
  for (auto& found : list.take())
    findings += std::to_string(found.line) + " " + found.key + ": "
                + found.reason + "\n";
  return {show(syntax.root), findings, syntax.rest};
}

// The findings of what stands inside `alkstore {`, in lines counted from 1.
std::string syntax_faults(const std::string& body) {
  return parse("alkstore {" + body + "\n}").findings;
}

} // namespace

TEST_CASE("a block is read as CAF reads it, with lines and duplicates") {
  auto got = parse("alkstore {\n"
                   "  a = 1, b = \"x\\n\\r\\t\\\\\\\"\"\n"
                   "  c = [1, \"two\",\n"
                   "       {d = 3s}]\n"
                   "  , e { f = true }\n"
                   "  a = 2,\n"
                   "}\n");
  CHECK(got.findings == "");
  CHECK(got.tree
        == "{alkstore@1 {a@2 1, b@2 \"x\n\r\t\\\"\", c@3 [1, \"two\", "
           "{d@4 3s}], e@5 {f@5 true}, a@6 2}}");
}

TEST_CASE("both kinds of comments, carriage returns and a BOM are accepted") {
  auto got = parse("\xEF\xBB\xBF; one\r\n"
                   "alkstore { # two\r\n"
                   "  a = \"#;\" ; three } \r\n"
                   "  \"B c\" = 5s # four\r\n"
                   "}\r\n");
  CHECK(got.findings == "");
  CHECK(got.tree == "{alkstore@2 {a@3 \"#;\", B c@4 5s}}");
}

TEST_CASE("CAF gets the file without our block and without comments") {
  std::string text = "caf { x = 1 # no\n"
                     "}\n"
                     "logger { y = \"alkstore { z = 1 } # yes\" }\n"
                     "alkstore {\n"
                     "  a = [\n"
                     "  ]\n"
                     "} ; no\n"
                     "u = <http://h/#yes>\n"
                     "w = 'alkstore {'\n";
  auto got = parse(text);
  CHECK(got.findings == "");
  CHECK(got.tree == "{alkstore@4 {a@5 []}}");
  auto squeezed = got.rest;
  squeezed.erase(std::remove(squeezed.begin(), squeezed.end(), ' '),
                 squeezed.end());
  CHECK(squeezed
        == "caf{x=1\n}\nlogger{y=\"alkstore{z=1}#yes\"}\n\n\n\n\n"
           "u=<http://h/#yes>\nw='alkstore{'\n");
  CHECK(got.rest.size() == text.size());
}

TEST_CASE("our keys outside of our block are refused") {
  CHECK(parse("[alkstore]\na = 1\n").findings
        == "1 : the form is `alkstore { key = value }`\n");
  CHECK(parse("alkstore.a = 1\n").findings
        == "1 : the form is `alkstore { key = value }`\n");
  CHECK(parse("alkstore\n{\n}\n").findings
        == "1 : the form is `alkstore { key = value }`\n");
  CHECK(parse("alkstorex { a = 1 }\n[alkstorey]\n").findings == "");
}

TEST_CASE("each fault of the syntax is one finding, and reading goes on") {
  CHECK(syntax_faults("\n a = \"x\n b = 1")
        == "2 alkstore.a: a text is not closed by `\"` before the end of its "
           "line\n");
  CHECK(syntax_faults("\n a = \"\\q\"")
        == "2 alkstore.a: a `\\` in a text is followed by n, r, t, \\ or \"\n");
  CHECK(syntax_faults("\n a =\n 1\n b = ")
        == "2 alkstore.a: its value has to stand on the same line\n"
           "4 alkstore.b: has no value\n");
  CHECK(syntax_faults("\n a 1\n = 2\n b\n c = 1")
        == "2 alkstore: `key = value` is expected here\n"
           "3 alkstore: `key = value` is expected here\n"
           "4 alkstore: `key = value` is expected here\n");
  CHECK(syntax_faults("\n a = \"b\" c\n d = 1,, e = 2")
        == "2 alkstore: the value is followed by something else: after it "
           "comes a `,` or a new line\n"
           "3 alkstore: nothing stands before `,`\n");
  CHECK(syntax_faults("\n a = [1 \"b\"\n \"c\"]")
        == "2 alkstore.a: `,` is missing before a list's next value\n"
           "3 alkstore.a: `,` is missing before a list's next value\n");
}

TEST_CASE("brackets that do not match are told with their lines") {
  CHECK(syntax_faults("\n a = [\n { b = 1 ]\n c = 2")
        == "3 alkstore.a[0]: `]` stands where the `{` of line 3 is not closed "
           "yet\n");
  CHECK(syntax_faults("\n a = 1 ]\n b = 2")
        == "2 alkstore: `]` closes nothing\n");
  CHECK(parse("alkstore {\n a = [\n {").findings
        == "3 alkstore.a[0]: its `{` is never closed\n");
  CHECK(parse("caf {\n a = [\n").findings
        == "1 : a `{` or `[` is never closed\n");
  CHECK(parse("}\nalkstore { }").findings == "1 : `}` closes nothing\n");
}

TEST_CASE("what stands behind a broken value is not shown") {
  for (auto line :
       {"secret = S3NTINEL==", "secret = \"S3NTINEL", "secret S3NTINEL",
        "secret = \"a\" S3NTINEL = 1", "secret = \"a\"S3NTINEL, S3NTINEL = 1",
        "secret =\n S3NTINEL = 1", "secret = [\"S3NTINEL\" S3NTINEL",
        "S3NTINEL", "\"S3NTINEL"})
    CHECK(syntax_faults(std::string{"\n"} + line).find("S3NTINEL")
          == std::string::npos);
}

TEST_CASE("nesting is bounded, in our block and outside of it") {
  const std::string reason = "is nested deeper than 32 levels\n";
  auto deep = std::string(1 << 20, '[');
  CHECK(parse(deep).findings == "1 : " + reason);
  CHECK(parse("x = " + deep).findings == "1 : " + reason);
  CHECK(parse(std::string(1 << 20, '{')).findings == "1 : " + reason);
  CHECK_THAT(parse("alkstore { a = " + deep).findings, EndsWith(reason));
  CHECK_THAT(parse("alkstore { " + std::string(1 << 20, '{')).findings,
             EndsWith(reason));
  std::string maps = "alkstore {";
  for (int i = 0; i < 100'000; ++i)
    maps += "a {";
  CHECK_THAT(parse(maps).findings, EndsWith(reason));
}

TEST_CASE("a file of rubbish has a bounded number of findings") {
  std::string text = "alkstore {\n";
  for (int i = 0; i < 100'000; ++i)
    text += "=\n";
  finding_list list;
  parse_config(text, list);
  auto findings = list.take();
  CHECK(findings.size() == finding_list::most + 1);
  CHECK(findings.back().reason
        == "there may be more: only the first 100 are told");
}

TEST_CASE("no bytes make the parser fail") {
  std::mt19937 random{20240229};
  const std::string some = "alkstore{}[]=,;#\"\\'<> \n\r\tab1s.\x00\xff";
  auto pick = [&](const std::string& from) {
    return from[random() % from.size()];
  };
  for (int round = 0; round < 20'000; ++round) {
    std::string text = round % 2 == 0 ? "alkstore {" : "";
    for (auto size = random() % 60; size > 0; --size)
      text += pick(some);
    auto got = parse(text);
    INFO(text);
    REQUIRE(got.rest.size() == text.size());
    REQUIRE(std::count(got.rest.begin(), got.rest.end(), '\n')
            == std::count(text.begin(), text.end(), '\n'));
  }
  for (auto text : {"\"", "alkstore {\"", "alkstore {a=\"\\", "alkstore",
                    "alkstore {", "alkstore {a", "alkstore {a=", "[", "<", "'",
                    "alkstore {a=[", "\xEF\xBB\xBF", "\xEF\xBB"})
    CHECK(parse(text).rest.size() == std::string{text}.size());
}
