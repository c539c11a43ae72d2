// The block `publish { }`.
#include "tests/app/config_support.hpp"

using namespace config_tests;

namespace {

std::string publish_with(const std::string& keys) {
  return "publish { " + keys + " }";
}

} // namespace

TEST_CASE(
  "without publish no port is opened, and with it only the loopback's") {
  CHECK_FALSE(good("").publish);
  auto port = good(publish_with("port = 4711")).publish;
  REQUIRE(port);
  CHECK(port->host == "127.0.0.1");
  CHECK(port->port == 4711);
  CHECK_FALSE(port->tls());
}

TEST_CASE("TLS needs three files that can be read") {
  scratch folder;
  auto pem = "\"" + folder.write("a.pem", "x") + "\"";
  auto port = good(publish_with("port = 0, certificate = " + pem
                                + ", key = " + pem + ", authorities = " + pem))
                .publish;
  REQUIRE(port);
  CHECK(port->tls());
  CHECK(port->key == folder.path("a.pem"));
  CHECK(faults(publish_with("port = 0, certificate = " + pem))
        == "f:1: alkstore.publish: TLS needs certificate, key and "
           "authorities\n");
  CHECK(faults(publish_with("port = 0, key = \"/none\", certificate = " + pem
                            + ", authorities = " + pem))
        == "f:1: alkstore.publish.key: cannot be read: No such file or "
           "directory\n");
}

TEST_CASE("a port is checked like every key") {
  CHECK(faults(publish_with("host = \"\""))
        == "f:1: alkstore.publish.port: is missing: an integer\n"
           "f:1: alkstore.publish.host: is empty\n");
  CHECK(faults(publish_with("port = 65536"))
        == "f:1: alkstore.publish.port: must be 0 to 65535: 0 takes a free "
           "one, which the log names\n");
  CHECK(faults("publish = 4711")
        == "f:1: alkstore.publish: must be a { } map, is a number\n");
  CHECK(faults(publish_with("port = 1, hosts = \"x\""))
        == "f:1: alkstore.publish.hosts: unknown key; the nearest one is "
           "host\n");
}
