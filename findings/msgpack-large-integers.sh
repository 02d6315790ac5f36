#!/bin/sh
# Integers above 32 bits between two packages for MessagePack.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund msgpackr@2.1.4 @msgpack/msgpack@3.1.3

cat > run.mjs <<'PROGRAM'
import { decode, encode } from '@msgpack/msgpack';
import { pack, unpack } from 'msgpackr';

const formats = { 203: 'float 64', 207: 'unsigned 64', 206: 'unsigned 32' };
for (const [name, value] of Object.entries({ seconds: 1_764_000_000, milliseconds: 1_764_000_000_000 })) {
  for (const [writer, bytes] of [['msgpackr', pack(value)], ['@msgpack/msgpack', encode(value)]]) {
    const [ours, theirs] = [unpack(Buffer.from(bytes)), decode(bytes)];
    console.log(`${name} by ${writer}, ${formats[bytes[0]]}: msgpackr reads ${typeof ours}, the other ${typeof theirs}`);
  }
}
PROGRAM
cat > expected <<'EXPECTED'
seconds by msgpackr, unsigned 32: msgpackr reads number, the other number
seconds by @msgpack/msgpack, unsigned 32: msgpackr reads number, the other number
milliseconds by msgpackr, float 64: msgpackr reads number, the other number
milliseconds by @msgpack/msgpack, unsigned 64: msgpackr reads bigint, the other number
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: msgpackr 2.1.4 and @msgpack/msgpack 3.1.3, sources https://github.com/kriszyp/msgpackr and
  https://github.com/msgpack/msgpack-javascript
Behaviour: msgpackr reads each 64-bit integer as a BigInt, also one that a number can hold, such as a time in
  milliseconds. It writes such a number as a float. So one type comes back from its own bytes, another from those of
  the other package.
Why a good guess is wrong: BigInt is needed only above 2^53, and a format with types should give one value for one
  number.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
