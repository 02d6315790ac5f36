#!/bin/sh
# A mock of one test file in the next ones, without isolation.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund vitest@5.1.0
echo "export const now = () => 'real';" > clock.mjs
printf "import { now } from './clock.mjs';\nexport const time = () => now();\n" > board.mjs

cat > vitest.config.mjs <<'PROGRAM'
import { BaseSequencer } from 'vitest/node';
class ByName extends BaseSequencer { sort = (files) => files.toSorted((a, b) => a.moduleId.localeCompare(b.moduleId)); }
export default { test: { fileParallelism: false, include: ['*.test.mjs'], sequence: { sequencer: ByName } } };
PROGRAM
cat > 2.test.mjs <<'PROGRAM'
import { it, vi } from 'vitest';
import { now } from './clock.mjs';
import { time } from './board.mjs';
const show = () => process.stdout.write(`2: board ${time()}, clock ${now()}, fake timers ${vi.isFakeTimers()}\n`);
it('has no mock', show);
PROGRAM
for n in 1 3; do cat > $n.test.mjs <<PROGRAM; done
import { it, vi } from 'vitest';
import { time } from './board.mjs';
vi.mock('./clock.mjs', () => ({ now: () => 'mock of $n' }));
it('has a mock', () => void vi.useFakeTimers() ?? process.stdout.write('$n: board ' + time() + '\\n'));
PROGRAM
cat > expected <<'EXPECTED'
isolate true
1: board mock of 1
2: board real, clock real, fake timers false
3: board mock of 3
isolate false
1: board mock of 1
2: board mock of 1, clock real, fake timers true
3: board mock of 1
EXPECTED

for isolate in true false; do
  echo "isolate $isolate"
  npx vitest run --isolate=$isolate 2>&1 | grep -E '^[123]: '
done > output
cat <<'ABOUT'
What: vitest 5.1.0, source https://github.com/vitest-dev/vitest
Behaviour: Without isolation, a module that a file imported with a mock stays so for all later files of the process: one
  without mocks gets it, and the mock of a later file has no effect. The mocked module itself is the real one again.
  Fake timers stay too.
Why a good guess is wrong: A mock is hoisted into its file and belongs to it, and importing the mocked module shows the
  real one, so one expects the same of modules that import it. Which files fail depends on their order.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
