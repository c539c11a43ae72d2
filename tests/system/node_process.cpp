#include "tests/system/node_process.hpp"

#include <csignal>
#include <fstream>
#include <stdexcept>

namespace alkstore::test {

namespace {

child_options child_of(const std::string& directory, const std::string& block,
                       node_options options) {
  static int number = 0;
  auto config = write_file(directory + "/node-" + std::to_string(++number)
                             + ".conf",
                           "alkstore {\n" + block + "\n}\n");
  child_options out;
  out.argv = {options.program, "--config-file", config};
  out.argv.insert(out.argv.end(), options.arguments.begin(),
                  options.arguments.end());
  out.directory = directory;
  out.environment = std::move(options.environment);
  out.unprivileged = options.unprivileged;
  out.log = std::move(options.log);
  return out;
}

} // namespace

node_process::node_process(const std::string& directory,
                           const std::string& block, node_options options)
  : child_process(child_of(directory, block, std::move(options))) {}

int node_process::stop() {
  signal(SIGTERM);
  return exit_status();
}

std::string write_file(const std::string& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary};
  file << text;
  file.close();
  if (!file)
    throw std::runtime_error{"cannot write " + path};
  return path;
}

} // namespace alkstore::test
