#include "app/config_http.hpp"

#include "tests/app/config_support.hpp"

using namespace config_tests;
using Catch::Matchers::StartsWith;

TEST_CASE("a url is http or https and names a host") {
  for (auto url : {"", "h", "ftp://h/", "file:///etc/passwd", "http://",
                   "http://h:99999/", "http://h h/", "//h/"})
    CHECK(faults(outbox_with("url = \"" + std::string{url} + "\""))
          == "f:1: alkstore.outboxes[0].url: not a valid http or https URL\n");
}

TEST_CASE("H82: without private targets their literals are refused") {
  for (auto host : {"127.0.0.1", "[::1]", "0.0.0.0", "2130706433",
                    "[::ffff:127.0.0.1]", "10.1.2.3", "169.254.0.1"}) {
    auto entry = outbox_with("url = \"http://" + std::string{host} + ":80/p\"");
    CHECK(good(entry).outboxes.size() == 1);
    CHECK_THAT(faults("allow-private-targets = false\n" + entry),
               StartsWith("f:2: alkstore.outboxes[0].url: blocked target: "));
  }
  auto entry = outbox_with("url = \"https://example.org/\"");
  CHECK(faults("allow-private-targets = false\n" + entry) == "");
}

TEST_CASE("a secret is plain, base64 behind whsec_, or in a file") {
  auto key = [](const std::string& keys) {
    auto config = good(outbox_with("url = \"http://h\", " + keys));
    return std::get<http_config>(config.outboxes[0].handler).key;
  };
  scratch folder;
  CHECK(key("secret = \"plain\"") == "plain");
  CHECK(key("secret = \"whsec_cGxhaW4=\"") == "plain");
  auto file = folder.write("key", "whsec_cGxhaW4=\n");
  CHECK(key("secret-file = \"" + file + "\"") == "plain");
  auto fault = [](const std::string& keys) {
    return faults(outbox_with("url = \"http://h\", " + keys));
  };
  CHECK(fault("secret = \"\"")
        == "f:1: alkstore.outboxes[0].secret: is empty, or no base64 follows "
           "whsec_\n");
  CHECK(fault("secret-file = \"" + folder.path("none") + "\"")
        == "f:1: alkstore.outboxes[0].secret-file: cannot be read: No such "
           "file or directory\n");
  CHECK(fault("secret-file = \"\"")
        == "f:1: alkstore.outboxes[0].secret-file: cannot be read: No such "
           "file or directory\n");
  CHECK(fault("secret = \"a\", secret-file = \"" + file + "\"")
        == "f:1: alkstore.outboxes[0].secret-file: there is a secret "
           "already\n");
}

TEST_CASE("headers that no request can have are refused") {
  auto fault = [](const std::string& headers) {
    return faults(
      outbox_with("url = \"http://h\", headers { " + headers + " }"));
  };
  CHECK(fault("Authorization = \"Bearer x\"") == "");
  CHECK(fault("\"a b\" = \"1\"")
        == "f:1: alkstore.outboxes[0].headers: holds a name that no header "
           "can have\n");
  CHECK(fault("a = \"1\\r\\nb: 2\"")
        == "f:1: alkstore.outboxes[0].headers: holds control characters\n");
  CHECK(fault("a = \"1\", A = \"2\"")
        == "f:1: alkstore.outboxes[0].headers: A is given twice\n");
  CHECK(fault("Webhook-Id = \"1\"")
        == "f:1: alkstore.outboxes[0].headers: Webhook-Id is set by the "
           "delivery itself\n");
}

TEST_CASE("H87: no finding repeats a secret") {
  for (auto keys : {"url = \"http://u:S3NTINEL@h:99999/?t=S3NTINEL\"",
                    "url = http://u:S3NTINEL@h/",
                    "url = \"ftp://S3NTINEL@h/\", secret = \"whsec_S3NTINEL!\"",
                    "url = \"http://h\", secret = S3NTINEL",
                    "url = \"http://h\", secret = [\"S3NTINEL\"]",
                    "url = \"http://h\", secret = \"S3NTINEL",
                    "url = \"http://h\", secrt = \"S3NTINEL\"",
                    "log = true, secret = \"S3NTINEL\"",
                    "url = \"http://h\", headers { A = \"S3NTINEL\\n\" }",
                    "url = \"http://h\", headers { A = S3NTINEL }",
                    "url = \"http://h\", headers = [\"S3NTINEL\"]",
                    "url = \"http://h\", timeout = 5s secret = S3NTINEL",
                    "url = \"http://h\", timeout = 5 S3NTINEL",
                    "url = \"http://h\", headers { Host: \"S3NTINEL\" }"}) {
    auto text = faults(outbox_with(keys));
    CHECK(text != "");
    CHECK(text.find("S3NTINEL") == std::string::npos);
  }
  auto hidden = "allow-private-targets = false\n"
                + outbox_with("url = \"http://u:S3NTINEL@127.0.0.1/S3NTINEL\"");
  CHECK(faults(hidden)
        == "f:2: alkstore.outboxes[0].url: blocked target: 127.0.0.1 is not a "
           "public address\n");
}
