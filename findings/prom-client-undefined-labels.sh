#!/bin/sh
# A label without a value.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund prom-client@15.1.3

cat > run.mjs <<'PROGRAM'
import { Counter, Registry } from 'prom-client';

for (const labels of [[{}, { mode: undefined }], [{ mode: undefined }, {}]]) {
  const registry = new Registry();
  const counter = new Counter({ name: 'boards', help: 'Boards.', labelNames: ['mode'], registers: [registry] });
  for (const each of labels) counter.inc(each);
  counter.inc({ mode: 'undefined' });
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('boards'));
  console.log('first', labels[0], '→', lines.join(', '));
}
PROGRAM
cat > expected <<'EXPECTED'
first {} → boards 2, boards{mode="undefined"} 1
first { mode: undefined } → boards{mode="undefined"} 2, boards{mode="undefined"} 1
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: prom-client 15.1.3, source https://github.com/siimon/prom-client
Behaviour: A label that is undefined and a label that is left out are one series. Its name is that of whichever came
  first after the start: without the label, or with the text "undefined". The second may then appear twice in one
  scrape.
Why a good guess is wrong: One expects an undefined label to be left out, or to be an error as an unknown label is. The
  name of a series must not depend on the order of requests.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
