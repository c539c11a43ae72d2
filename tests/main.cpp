// The one main of all test programs.
#define CATCH_CONFIG_RUNNER
#include "tests/catch.hpp"

int main(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}
