import { expect, it } from 'vitest';
import type { FaultName } from './faults.ts';
import { boundsOf, type Told } from './history.ts';
import { runHistory } from './run.ts';

const FAULTS: FaultName[] = ['an instance is killed', 'connections to Redis break', 'Redis is killed'];

it('what clients were told agrees with the counters, through kills of an instance and of Redis and broken connections', {
  timeout: 60_000,
}, async () => {
  for (const { plan, counter, ok, least, most } of await runHistory(FAULTS, 300)) {
    expect(ok, plan).toBeGreaterThan(0);
    expect(counter, plan).toBeGreaterThanOrEqual(least);
    expect(counter, plan).toBeLessThanOrEqual(most);
  }
});

it('only what an instance could not tell Redis before it was killed may be missing', () => {
  const told = (at: number, outcome: Told['outcome']): Told => ({ instance: '1', at, count: 1, outcome });
  const history = [told(1000, 'ok'), told(5000, 'ok'), told(5100, 'refused'), told(5200, 'unknown')];
  const death = { instance: '1', at: 5500, awaySince: null };
  expect(boundsOf('free', history, [])).toMatchObject({ least: 2, most: 3 });
  expect(boundsOf('free', history, [death])).toMatchObject({ least: 2, most: 3 });
  expect(boundsOf('pro', history, [death])).toMatchObject({ least: 1, most: 4 });
  expect(boundsOf('free', history, [{ ...death, awaySince: 4900 }])).toMatchObject({ least: 1, most: 4 });
  expect(boundsOf('pro', history, [{ ...death, instance: '2' }])).toMatchObject({ least: 2, most: 3 });
});
