#!/bin/bash
# Has systemd judge the unit that we ship.
#   tests/check_unit.sh <alkstore-node>
set -euo pipefail
unit=$(dirname "$0")/../config/alkstore-node.service

if ! command -v systemd-analyze >/dev/null; then
  echo "SKIPPED: there is no systemd-analyze here"
  exit
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# verdict <program>, a unit on standard input: what systemd says about it. It wants
# the program to be there.
verdict() {
  sed "s|^ExecStart=[^ ]*|ExecStart=$1|" >"$folder/alkstore-node.service"
  systemd-analyze verify "$folder/alkstore-node.service" 2>&1 |
    grep -F alkstore-node || true
}

said=$(verdict "$1" <"$unit")
if [[ -n $said ]]; then
  echo "$said"
  exit 1
fi
if [[ -z $(sed 's/^NoNewPrivileges/NoSuchKey/' "$unit" | verdict "$1") ]]; then
  echo "a key that does not exist is not noticed"
  exit 1
fi
