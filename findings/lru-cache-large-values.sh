#!/bin/sh
# A value that is larger than the whole cache.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund lru-cache@11.5.3

cat > run.mjs <<'PROGRAM'
import { LRUCache } from 'lru-cache';

const reasons = [];
const dispose = (value, key, reason) => reasons.push(`${key} ${reason}`);
const cache = new LRUCache({ maxSize: 10, sizeCalculation: (value) => value.length, dispose });
cache.set('board', 'old').set('other', 'other');
const returned = cache.set('board', 'a new and longer one');
console.log('set returned the cache:', returned === cache);
console.log('board:', cache.get('board'));
console.log('other:', cache.get('other'));
console.log('disposed:', reasons.join(', '));
const answers = new LRUCache({ max: 10 });
answers.set('no such stop', undefined);
console.log('undefined is cached:', answers.has('no such stop'));
answers.set('no such stop', null);
console.log('null is cached:', answers.has('no such stop'));
PROGRAM
cat > expected <<'EXPECTED'
set returned the cache: true
board: undefined
other: other
disposed: board set
undefined is cached: false
null is cached: true
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: lru-cache 11.5.3, source https://github.com/isaacs/node-lru-cache
Behaviour: A value larger than the cache is not stored, without an error, and the value before it under the same key is
  deleted. So is one that is set to undefined.
Why a good guess is wrong: One expects an error, or the old value to stay, or everything else to be evicted. With a
  fallback to stale values, one large answer makes the fallback disappear.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
