#!/bin/sh
# The bounds of a histogram.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund prom-client@15.1.3

cat > run.mjs <<'PROGRAM'
import { Histogram, Registry } from 'prom-client';

async function print(title, buckets) {
  const registry = new Registry();
  const waits = new Histogram({ name: 'wait_seconds', help: 'Wait', buckets, registers: [registry] });
  for (const seconds of [0.5, 2, 7]) waits.observe(seconds);
  const lines = (await registry.metrics()).split('\n').filter((line) => line.includes('bucket'));
  console.log(`${title}:`, lines.map((line) => line.slice('wait_seconds_bucket'.length)).join(' '));
}

await print('in order', [1, 5, 10]);
await print('one added at the end', [5, 10, 1]);
await print('with an infinite one', [1, 5, Infinity]);
PROGRAM
cat > expected <<'EXPECTED'
in order: {le="1"} 1 {le="5"} 2 {le="10"} 3 {le="+Inf"} 3
one added at the end: {le="5"} 2 {le="10"} 3 {le="1"} 3 {le="+Inf"} 3
with an infinite one: {le="1"} 1 {le="5"} 2 {le="Infinity"} 3 {le="+Inf"} 3
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: prom-client 15.1.3, source https://github.com/siimon/prom-client
Behaviour: Bounds are used in the order in which they were given, without an error. An observation counts at the first bound that
  is not below it, and at all that were given after that: here three waits of at most a second, where there was one. An
  infinite bound becomes a series of its own beside +Inf.
Why a good guess is wrong: The clients for Go and Python refuse bounds out of order, so one expects an error, or that the order is irrelevant.
  The series have the right names and their last value is right; only quantiles and shares are wrong.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
