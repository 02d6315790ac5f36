import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take longest: begun last, one of them would hold up the end of the run alone. */
const LONGEST = [
  'browser/pages',
  'server',
  'browser/explorer',
  'deploy/alerts',
  'web/samples',
  'cli/processes',
  'cli/timetable',
  'deploy/rehearsal',
  'contract/generated-clients',
  'browser/site',
  'operations/trips/pages',
  'browser/examples',
  'realtime/agreement/followed-journeys',
  'contract/spoilt-upstream',
  'cli/upstream-check/check',
  'web/signup/keys-page',
  'held-memory',
].map((name) => `${import.meta.dirname}/test/${name}.test.ts`);
const moved = LONGEST.find((file) => !existsSync(file));
if (moved) throw new Error(`LONGEST in vitest.config.ts names ${moved}, which does not exist`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const rank = ({ moduleId }: TestSpecification) =>
      (LONGEST.indexOf(moduleId) + LONGEST.length + 1) % (LONGEST.length + 1);
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** A machine may be busy: nothing but a test that hangs waits until its time is up. */
export default defineConfig({
  test: {
    isolate: false,
    maxWorkers: 4,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
  },
});
