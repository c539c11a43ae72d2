#!/bin/bash
# Installs the Debian packages that `./dev package` has made, as root on a
# machine to throw away, builds examples/orders against them, runs its tests,
# and removes them again.
set -euo pipefail
cd "$(dirname "$0")/.."
apt-get install -qy --no-install-recommends ./build-package/*.deb sqlite3
alkstore-node --version
alkstore-node --check \
  --config-file /usr/share/doc/alkstore/examples/caf-application.conf
alkstore --version
[[ $(sqlite3 :memory: '.load alkstore' 'SELECT 1') == 1 ]]
pkg-config --cflags --libs alkstore
build=$(mktemp -d)
cmake -S examples/orders -B "$build" -G Ninja
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure
rm -r "$build"
apt-get remove -qy alkstore libalkstore-dev
if [[ -e /usr/include/alkstore || -e /usr/bin/alkstore-node ]]; then
  echo "something was left behind" >&2
  exit 1
fi
echo "the packages install, work and go"
