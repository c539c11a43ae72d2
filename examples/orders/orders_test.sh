#!/bin/sh
# The program as a whole: orders in, mails and reports out, a clean stop.
#   orders_test.sh <program>
set -eu
cd "$(mktemp -d)"
cat >caf-application.conf <<'END'
shop {
  database = "shop.db"
  digest = "@every 1s"
}
END
{
  printf '%s\n' '2 teapots' '1 kettle' '0 cups' 'cancel 1' 'cancel 7'
  # Until the digest of the configuration has fired and come back.
  i=0
  until grep -qs '^digest: 1 orders$' out || [ $i -eq 200 ]; do
    sleep 0.1
    i=$((i + 1))
  done
} | "$1" --config-file=caf-application.conf >out
cat out
for line in 'order 1' 'order 2' 'refused: CHECK.*' 'cancelled' \
  'refused: there is no order 7' 'mail: order 1: 2 teapots' \
  'mail: order 1 is cancelled' 'digest: 1 orders' 'stopped'; do
  grep -q "^$line\$" out || { echo "missing: $line" && exit 1; }
done
[ ! -e shop.db-wal ] || { echo "the file was not closed" && exit 1; }
rm -r "$PWD"
