// alkstore: the command line program.

#include "app/cli/command_line.hpp"

int main(int argc, char** argv) {
  return alkstore::cli::run_command_line(argc, argv);
}
