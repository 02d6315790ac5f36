#!/bin/sh
# Waiting for a fake clock.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund vitest@5.1.0

cat > poll.test.mjs <<'PROGRAM'
import timers from 'node:timers/promises';
import { expect, it, vi } from 'vitest';

it('waits', async () => {
  const ways = {
    'expect.poll': (isDone) => expect.poll(isDone).toBe(true),
    'vi.waitFor': (isDone) => vi.waitFor(() => expect(isDone()).toBe(true)),
    'vi.waitUntil': (isDone) => vi.waitUntil(isDone),
  };
  for (const [name, wait] of Object.entries(ways)) {
    vi.useFakeTimers({ now: 0 });
    let isDone = false;
    setTimeout(() => (isDone = true), 300);
    await wait(() => isDone).catch(() => {});
    process.stdout.write(`${name}: done ${isDone}, fake clock at ${Date.now()}\n`);
  }
  let isDone = false;
  timers.setTimeout(1000).then(() => (isDone = true));
  await vi.advanceTimersByTimeAsync(1000);
  process.stdout.write(`node:timers/promises: done ${isDone}\n`);
});
PROGRAM
cat > expected <<'EXPECTED'
expect.poll: done true, fake clock at 300
vi.waitFor: done true, fake clock at 300
vi.waitUntil: done true, fake clock at 300
node:timers/promises: done false
EXPECTED

npx vitest run 2>&1 | grep -E '^(expect|vi|node)' > output
cat <<'ABOUT'
What: vitest 5.1.0, source https://github.com/vitest-dev/vitest
Behaviour: Each way to wait moves the fake clock on by its interval at every attempt, so fake timers fire while nobody
  advances them. Those of node:timers/promises stay real.
Why a good guess is wrong: A fake clock is one that stands still until a test advances it. So one expects these to wait
  in vain, and a test that proves "nothing happens without time" proves nothing if it polls.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
