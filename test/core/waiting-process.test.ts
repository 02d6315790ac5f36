import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const CLOCK = `import * as clock from './src/core/clock.ts';`;
const READER = `import { ReadingThread } from './src/realtime/feed/reading-thread.ts';`;
const ENGINE = `import { JourneyEngine } from './src/journeys/engine.ts';`;
const STUCK = `{ timeoutMs: 300, program: new URL('test/realtime/failing-threads.ts', 'file://${process.cwd()}/').href }`;

/** Programs that wait for nothing else, and end by themselves. */
const WAITS = {
  'a pause': `${CLOCK} await clock.sleep(clock.systemClock, 20);`,
  'work that does not heed its deadline': `${CLOCK} await clock.within(20, new Promise(() => {}), () => 'late').catch(() => {});`,
  'work that heeds its deadline': `${CLOCK} await clock.withTimeLimit(20, (signal) =>
    new Promise((resolve) => signal.addEventListener('abort', resolve)));`,
  'a call from the budget, while calls are scarce': `
    import { protectUpstream } from './src/upstream/protection.ts';
    const log = { info() {}, warn() {}, error() {} };
    const { callForFeed } = protectUpstream({ callByKey: [() => {}], limits: { rps: 5, dailyBudget: 60_000 }, log });
    for (let call = 0; call < 6; call++) await callForFeed(async () => {});`,
  'a feed that cannot be read in time': `${READER} await new ReadingThread(${STUCK}).parse('buses', Uint8Array.of(3)).catch(() => {});`,
  'a journey search that no thread takes': `${ENGINE}
    const startThread = () => ({ on() {}, unref() {}, postMessage() {} });
    const engine = new JourneyEngine({}, { log: { warn() {}, error() {} }, now: Date.now, startThread });
    await engine.search('plan', { at: Date.now() }).catch(() => {});`,
};

it.concurrent.each(Object.entries(WAITS))(
  'a process that waits only for %s lives until that is over',
  async (_, text) => {
    const program = ['--input-type=module', '--eval', `${text}\nconsole.log('over');`];
    const { stdout } = await run(process.execPath, program).catch((error) => error);
    expect(stdout).toBe('over\n');
  },
);

it('a process does not live for background timers', async () => {
  const text = `${CLOCK} clock.systemClock.after(600_000, () => {}, { isBackground: true });`;
  await run(process.execPath, ['--input-type=module', '--eval', text]);
});
