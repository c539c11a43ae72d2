#!/bin/bash
# The SQLite extension in the sqlite3 shell: a business row and an outbox message
# in one transaction, rolled back and committed, and a running node that delivers
# the committed one within 50 ms. ALKSTORE, ALKSTORE_NODE and ALKSTORE_EXTENSION
# are paths.
set -euo pipefail

folder=$(mktemp -d)
node=
trap '[[ -z $node ]] || kill -9 $node; rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "$1" >&2
  cat node.log >&2
  exit 1
}

# await <pattern>: the line of the node's log.
await() {
  local line
  for ((i = 0; i < 3000; i++)); do
    if line=$(grep -m 1 -- "$1" node.log); then
      echo "$line"
      return
    fi
    sleep 0.01
  done
  fail "no $1"
}

printf '%s\n' 'alkstore {' 'database = "store.db"' \
  'outboxes = [{ name = "box", log = true }]' '}' >node.conf
"$ALKSTORE_NODE" --config-file node.conf >node.log 2>&1 &
node=$!
await ' leading ' >/dev/null

shell() {
  # The node writes at its start, too: without a time-out that is "locked".
  sqlite3 -bail -cmd ".timeout 5000" -cmd ".load $ALKSTORE_EXTENSION" store.db
}

shell <<<'CREATE TABLE orders(item);'
best=1000000
for _ in 1 2 3 4 5; do
  # The id; then the time, to the millisecond, at which COMMIT had returned.
  mapfile -t said < <(shell <<'END'
BEGIN IMMEDIATE;
INSERT INTO orders VALUES('lost');
SELECT alkstore_outbox_enqueue('box', 'lost') IS NULL;
ROLLBACK;
BEGIN IMMEDIATE;
INSERT INTO orders VALUES('kept');
SELECT alkstore_outbox_enqueue('box', 'kept');
COMMIT;
SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER);
END
  )
  line=$(await " delivered box job=${said[1]} ")
  delivered=$(date -d "${line%% *}" +%s%3N)
  took=$((delivered - said[2]))
  ((took >= best)) || best=$took
done
((best < 50)) || fail "delivered no sooner than $best ms after the commit"
[[ $(shell <<<'SELECT DISTINCT item FROM orders;') == kept ]] ||
  fail 'a row that was rolled back is there'
[[ $(grep -c ' delivered box ' node.log) == 5 ]] ||
  fail 'a message that was rolled back was delivered'

refused=$(shell <<<"SELECT alkstore_enqueue('q', 'x');" 2>&1) &&
  fail 'enqueued without a transaction'
[[ $refused == *'invalid_argument: no transaction is open'* ]] ||
  fail "refused with: $refused"
kill "$node"
wait "$node"
node=
