#!/bin/sh
# An entry of a cache that has no time left.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund lru-cache@11.5.3

cat > run.mjs <<'PROGRAM'
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

const cache = new LRUCache({ max: 10, ttl: 20 });
// What is left of a response: max-age minus Age, and a header that could not be read.
const left = { 'one second old': 15 - 14, 'just stale': 15 - 15, 'a second stale': 15 - 16, unreadable: Number('soon') };
for (const [name, ttl] of Object.entries(left)) cache.set(name, 'board', { ttl });
await sleep(100);
for (const [name, ttl] of Object.entries(left)) {
  console.log(`${name}, ttl ${ttl}: ${cache.get(name)}, ${cache.getRemainingTTL(name)} ms left`);
}
PROGRAM
cat > expected <<'EXPECTED'
one second old, ttl 1: undefined, 0 ms left
just stale, ttl 0: board, Infinity ms left
a second stale, ttl -1: undefined, 0 ms left
unreadable, ttl NaN: board, Infinity ms left
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: lru-cache 11.5.3, source https://github.com/isaacs/node-lru-cache
Behaviour: A ttl of 0 or NaN means that the entry never expires, also where the cache has a ttl. With -1 it has expired at once.
Why a good guess is wrong: A ttl is often what is left of a response, and 1, 0 and -1 look like one line: shorter and shorter.
  The one response that was stored in the very second when it became stale stays forever, and the older ones do not.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
