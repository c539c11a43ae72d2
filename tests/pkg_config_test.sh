#!/bin/bash
# examples/alone, built with pkg-config's flags, without CMake.
#   pkg_config_test.sh <compiler>
set -euo pipefail
example=$(realpath "$(dirname "$0")/../examples/alone/main.cpp")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
read -ra flags < <(pkg-config --cflags --libs alkstore)
"$1" "$example" "${flags[@]}" -o alone
[[ $(./alone a.db events x) == 'message 1' ]]
if ./alone a.db 'no name' x; then exit 1; fi
[[ $(./alone a.db events x) == 'message 2' ]]
