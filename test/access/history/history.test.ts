import { expect, it } from 'vitest';
import type { FaultName } from './faults.ts';
import { boundsOf, type Ending, type Told } from './history.ts';
import type { AccountLedger } from './ledger.ts';
import { runHistory } from './run.ts';

const FAULTS: FaultName[] = ['an instance is killed', 'connections to Redis break', 'Redis freezes', 'Redis is killed'];

it('the responses that clients got match the counters despite killed instances, a killed Redis and broken connections', {
  timeout: 60_000,
}, async () => {
  for (const { plan, counter, ok, least, most, lostWithoutReason, beyondLimit } of await runHistory(FAULTS, 300)) {
    expect(ok, plan).toBeGreaterThan(0);
    expect(counter, plan).toBeGreaterThanOrEqual(least);
    expect(counter, plan).toBeLessThanOrEqual(most);
    expect({ lostWithoutReason, beyondLimit }, plan).toEqual({ lostWithoutReason: 0, beyondLimit: 0 });
  }
});

const told = (at: number, outcome: Told['outcome']): Told => ({ instance: '1', at, count: 1, outcome });
const HISTORY = [told(1000, 'ok'), told(5000, 'ok'), told(5100, 'refused'), told(5200, 'unknown')];

function ended(account: Partial<AccountLedger>, options: { isSudden?: boolean; awayFrom?: number } = {}): Ending {
  const { isSudden = true, awayFrom } = options;
  const away = awayFrom === undefined ? [] : [{ from: awayFrom, to: 9000 }];
  const entry = { counted: 2, perhapsMore: 0, perhapsLess: 0, requestedAt: 4000, settledAt: 4000, ...account };
  return { instance: '1', isSudden, ledger: { accounts: { a: entry }, away } };
}

const free = { plan: 'free', accountId: 'a' } as const;
const pro = { plan: 'pro', accountId: 'a' } as const;

it('the history check expects every count when instances were stopped cleanly or Redis acknowledged everything', () => {
  for (const endings of [[], [ended({})], [ended({ counted: 1 }, { isSudden: false })]]) {
    expect(boundsOf(free, HISTORY, endings)).toMatchObject({ least: 2, most: 3, lost: 0 });
  }
});

it('the history check lets a killed instance lose what Redis had not acknowledged', () => {
  expect(boundsOf(pro, HISTORY, [ended({ counted: 1 })])).toMatchObject({ least: 1, lost: 1, lostWithoutReason: 0 });
  expect(boundsOf(pro, HISTORY, [ended({ perhapsLess: 1 })])).toMatchObject({ least: 1 });
  expect(boundsOf(pro, HISTORY, [ended({ perhapsMore: 2 })])).toMatchObject({ most: 4 });
});

it('the history check reports a count as lost without reason if the instance could have sent it to Redis', () => {
  expect(boundsOf(pro, HISTORY, [ended({ counted: 1, settledAt: 5001 })])).toMatchObject({ lostWithoutReason: 1 });
  expect(boundsOf(free, HISTORY, [ended({ counted: 1 })])).toMatchObject({ lostWithoutReason: 1 });
  const away = ended({ counted: 1 }, { awayFrom: 4500 });
  expect(boundsOf(free, HISTORY, [away])).toMatchObject({ lost: 1, lostWithoutReason: 0 });
});

it('the history check lets only requests served without Redis exceed the limit', () => {
  const history = [...HISTORY, { ...told(2000, 'ok'), count: 1000 }];
  expect(boundsOf(free, history, [ended({}, { isSudden: false })])).toMatchObject({ beyondLimit: 2 });
  expect(boundsOf(free, history, [ended({}, { awayFrom: 4500 })])).toMatchObject({ beyondLimit: 1 });
});
