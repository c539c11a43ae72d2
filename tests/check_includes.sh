#!/bin/bash
# The arrows of the tree, app -> actors -> substrate. No compiler checks them:
# CAF's and SQLite's headers are on every target's default path.
#   tests/check_includes.sh [root]        prints what breaks a rule, exits 1
#   tests/check_includes.sh --self-test   shows that each rule bites
set -euo pipefail

# forbid <rule> <pattern> <folder>...: no line matches, comments left out.
forbid() {
  local rule=$1 pattern=$2 found
  shift 2
  found=$(grep -rsnP --include='*.[ch]pp' "$pattern" "$@" |
    grep -vP '^[^:]+:\d+:\s*//' || true)
  if [[ -n $found ]]; then
    printf '%s:\n%s\n' "$rule" "$found"
    broken=1
  fi
}

check() {
  local broken=0
  cd "$1"
  forbid 'the substrate knows no CAF' \
    '#\s*include\s*<caf/' substrate tests/substrate
  forbid 'the substrate includes nothing above it' \
    '#\s*include\s*"(actors|app)/' substrate tests/substrate
  forbid 'the substrate has no threads' \
    '#\s*include\s*<(thread|mutex|shared_mutex|condition_variable|future)>' \
    substrate
  forbid 'the actors include nothing above them' \
    '#\s*include\s*"(app|testing)/' actors
  forbid 'the test kit includes no program' \
    '#\s*include\s*"app/' testing tests/actors tests/testing
  forbid 'the actors know no SQLite' \
    '#\s*include\s*[<"](sqlite3|substrate/(sqlite|statement)\.hpp)' actors
  forbid 'the actors hold no SQL' \
    '^((?!//).)*\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA|BEGIN|COMMIT)\b' actors
  forbid 'only actors/caf_port.hpp knows which CAF this is' \
    'PORT_CAF1|CAF_(MAJOR_|MINOR_|PATCH_)?VERSION' \
    --exclude='caf_port*.hpp' substrate actors testing app tests bench examples
  forbid 'an include is written from the root of the repository' \
    '#\s*include\s*"(?!(substrate|actors|testing|app|tests|bench)/)' \
    substrate actors testing app tests bench
  # clang-tidy sees several sources as one, and cannot tell.
  forbid 'a source is not included' \
    '#\s*include\s*[<"][^>"]*\.(c|cc|cpp|cxx)[>"]' \
    substrate actors testing app tests bench examples
  forbid 'an example includes what is installed, by its installed name' \
    '#\s*include\s*"(substrate|actors|testing|app|tests|bench)/' examples
  return $broken
}

# bites <file> <line> <rule>: a tree with this line in this file is refused.
bites() {
  local root output
  root=$(mktemp -d)
  mkdir -p "$root"/{substrate,actors,testing,app,bench,examples} \
    "$root"/tests/{substrate,actors,testing}
  echo "$2" >"$root/$1"
  output=$(check "$root") && output="(accepted) $output"
  rm -r "$root"
  if [[ $output != "$3:"* ]]; then
    echo "$1 with '$2' should break '$3', but: $output"
    failed=1
  fi
}

self_test() {
  local failed=0
  bites substrate/a.cpp '#include <caf/all.hpp>' 'the substrate knows no CAF'
  bites tests/substrate/a.cpp '#include "app/config.hpp"' \
    'the substrate includes nothing above it'
  bites substrate/a.hpp '#include "actors/actors.hpp"' \
    'the substrate includes nothing above it'
  bites substrate/a.hpp '#include <thread>' 'the substrate has no threads'
  bites actors/a.cpp '#include "app/config.hpp"' \
    'the actors include nothing above them'
  bites actors/a.cpp '#include "testing/testing.hpp"' \
    'the actors include nothing above them'
  bites testing/a.cpp '#include "app/config.hpp"' \
    'the test kit includes no program'
  bites actors/a.cpp '#include <sqlite3.h>' 'the actors know no SQLite'
  bites actors/a.cpp '#include "substrate/statement.hpp"' \
    'the actors know no SQLite'
  bites actors/a.cpp 'run("SELECT 1");' 'the actors hold no SQL'
  bites actors/a.cpp 'run("SELECT 1"); // asks' 'the actors hold no SQL'
  bites app/a.cpp '#if PORT_CAF1' \
    'only actors/caf_port.hpp knows which CAF this is'
  bites bench/a.cpp '#if CAF_MAJOR_VERSION > 0' \
    'only actors/caf_port.hpp knows which CAF this is'
  bites actors/a.cpp '#include "actors.hpp"' \
    'an include is written from the root of the repository'
  bites app/a.cpp '#include "app/config.cpp"' 'a source is not included'
  bites examples/a.cpp '#include "actors/actors.hpp"' \
    'an example includes what is installed, by its installed name'
  return $failed
}

case ${1-} in
  --self-test) self_test ;;
  *) check "${1:-$(dirname "$0")/..}" ;;
esac
