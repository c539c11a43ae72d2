#!/bin/bash
# The table of docs/tests.md: which test proves which number.
#   tests/case_table.sh <build folder>            prints it
#   tests/case_table.sh <build folder> --check    exits 1 if docs/tests.md differs
# A number without a test fails.
set -euo pipefail
export LC_ALL=C # one order of the names everywhere
cd "$(dirname "$0")/.."

names() {
  ctest --test-dir "$1" -N | sed -nE 's/^ *Test +#[0-9]+: //p' | sort -u
}

# rows <names> <number>...
rows() {
  local all=$1 number found
  shift
  for number in "$@"; do
    found=$(grep -E "^([SH][0-9]+, )*$number[,:( ]" <<<"$all" || true)
    if [[ -z $found ]]; then
      echo "no test carries the number $number" >&2
      return 1
    fi
    found=${found//|/\\|}
    echo "| $number | ${found//$'\n'/<br>} |"
  done
}

table() {
  local all
  all=$(names "$1")
  cat <<'END'
# What proves what

Each number stands for one thing that has to hold: S for what the product
promises, H for a case from other systems' bug reports. Tests carry the numbers of
what they prove in their names. `tests/case_table.sh build` makes this page.

| number | tests |
| --- | --- |
END
  rows "$all" $(seq -f 'S%g' 1 27) $(seq -f 'H%02g' 1 91)
}

if [[ ${2-} == --check ]]; then
  diff -u docs/tests.md <(table "$1")
else
  table "$1"
fi
