// alkstore-node: the node program.

#include "app/config_reader.hpp"
#include "app/config_reference.hpp"
#include "app/node.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>

namespace {

constexpr int exit_usage = 64; // EX_USAGE

int run(const std::string& path, bool check_only) {
  auto file = alkstore::read_config(path);
  for (auto& note : file.notes)
    std::cerr << path << ": " << note << '\n';
  for (auto& what : file.findings)
    std::cerr << alkstore::render(path, what) << '\n';
  if (!file.findings.empty())
    return alkstore::exit_config;
  if (check_only) {
    std::cout << path << ": no findings\n";
    return alkstore::exit_ok;
  }
  return alkstore::run_node(file.config, file.rest);
}

} // namespace

int main(int argc, char** argv) {
  CLI::App cli{"Durable schedules, queues and outboxes in one SQLite file.",
               "alkstore-node"};
  std::string path = "caf-application.conf";
  bool check_only = false;
  cli.add_option("--config-file", path, "the configuration to run")
    ->capture_default_str();
  cli.add_flag("--check", check_only,
               "read the configuration and say what is "
               "wrong with it");
  cli.set_version_flag("--version", ALKSTORE_VERSION);
  cli.footer(alkstore::config_help());
  try {
    cli.parse(argc, argv);
    return run(path, check_only);
  } catch (const CLI::ParseError& why) {
    return cli.exit(why) == 0 ? alkstore::exit_ok : exit_usage;
  } catch (const std::exception& why) {
    std::cerr << "alkstore-node: " << why.what() << '\n';
    return alkstore::exit_software;
  }
}
