#!/bin/sh
# An error of zod that leaves a worker thread.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund zod@4.6.7

cat > run.mjs <<'PROGRAM'
import { writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

writeFileSync('thread.mjs', `
  import { parentPort, workerData } from 'node:worker_threads';
  import { z } from 'zod';
  const [name, how] = workerData;
  const error = name === 'zod' ? z.number().safeParse('x').error : new TypeError('no number');
  if (how === 'thrown') throw error;
  parentPort.postMessage(error);
`);
for (const workerData of [['TypeError', 'posted'], ['TypeError', 'thrown'], ['zod', 'posted'], ['zod', 'thrown']]) {
  await new Promise((resolve) => {
    const show = ({ name, message, issues }) =>
      console.log(`${workerData.join(' ')}: ${name}, message "${message}", issues ${issues?.length ?? 'none'}`);
    new Worker('./thread.mjs', { workerData }).on('message', show).on('error', show).on('exit', resolve);
  });
}
PROGRAM
cat > expected <<'EXPECTED'
TypeError posted: TypeError, message "no number", issues none
TypeError thrown: TypeError, message "no number", issues none
zod posted: Error, message "", issues none
zod thrown: Error, message "", issues none
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: zod 4.6.7 with node:worker_threads, source https://github.com/colinhacks/zod
Behaviour: An error of zod that a thread throws or posts arrives as a plain Error with an empty message and no issues.
Why a good guess is wrong: Errors keep their message when they are cloned, as the TypeError here does. The message of
  an error of zod is an accessor, which the clone skips.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
