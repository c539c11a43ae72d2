#!/bin/bash
# The five lines of README.md, in an application that lacks nothing else.
#   readme_test.sh <compiler> <where alkstore is, and CAF>...
set -euo pipefail
readme=$(realpath "$(dirname "$0")/../README.md")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
compiler=$1
export CMAKE_PREFIX_PATH
CMAKE_PREFIX_PATH=$(IFS=: && echo "${*:2}")

# line <text>: the only one of README.md that has it.
line() {
  [[ $(grep -cF "$1" "$readme") == 1 ]]
  grep -F "$1" "$readme"
}

cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
find_package(alkstore REQUIRED)
add_executable(app main.cpp)
target_link_libraries(app PRIVATE alkstore::actors)
END
cat >main.cpp <<END
$(line '#include "alkstore/actors/runtime.hpp"')

class app_config : public caf::actor_system_config {
public:
  app_config() {
$(line 'register_types')
  }
};

int main() {
$(line 'init_messages')
  app_config config;
  caf::actor_system system{config};
$(line 'alkstore::start(system')
$(line 'alkstore::stop{}')
}
END
cmake -S . -B build -G Ninja -DCMAKE_CXX_COMPILER="$compiler"
cmake --build build
build/app
[[ $(sqlite3 app.db "SELECT count(*) FROM alkstore_meta") == 1 ]]
