import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take longest: begun last, one of them would hold up the end of the run alone. */
const LONGEST = [
  'browser/pages',
  'deploy/alerts',
  'browser/explorer',
  'browser/site',
  'site/samples',
  'server',
  'cli/timetable',
  'trips/pages',
  'realtime/agreement/followed-journeys',
  'deploy/rehearsal',
  'held-memory',
  'contract/spoilt-upstream',
  'contract/generated-clients',
  'signup/keys-page',
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const rank = ({ moduleId }: TestSpecification) =>
      (LONGEST.findIndex((name) => moduleId.endsWith(name)) + LONGEST.length + 1) % (LONGEST.length + 1);
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** A machine may be busy: nothing but a test that hangs waits until its time is up. */
export default defineConfig({
  test: {
    isolate: false,
    maxWorkers: 3,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
  },
});
