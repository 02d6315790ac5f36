import { expect, it } from 'vitest';
import { createCallBalance, logHeaviestAccount } from '#src/access/call-balance.ts';
import type { Shortage } from '#src/efa/ask.ts';
import { createSimulatedClock } from '../support/simulated-clock.ts';

const MINUTE = 60_000;

it('the accounts that used most today are logged every hour, and at once when calls run short', async () => {
  const clock = createSimulatedClock('2026-04-15T22:30:00Z');
  const balance = createCallBalance(clock);
  const lines: object[] = [];
  let shortage: Shortage | null = null;
  logHeaviestAccount({ balance, shortage: () => shortage, log: { info: (fields) => void lines.push(fields) }, clock });

  for (let call = 0; call < 30; call++) balance.noteCall('asks rare stops');
  balance.noteCharged('asks rare stops', 20);
  balance.noteCharged('asks popular stops', 500);
  await clock.advance(59 * MINUTE);
  expect(lines).toEqual([]);
  await clock.advance(MINUTE);
  const heaviest = {
    byCalls: { account: 'asks rare stops', calls: 30, requests: 20 },
    byRequests: { account: 'asks popular stops', calls: 0, requests: 500 },
  };
  expect(lines).toEqual([{ ...heaviest, shortage: null }]);

  shortage = 'spent';
  await clock.advance(10 * MINUTE);
  expect(lines.slice(1)).toEqual([{ ...heaviest, shortage: 'spent' }]);

  // The numbers are of the UTC day.
  await clock.advance(2 * 60 * MINUTE);
  expect(lines).toHaveLength(2);
});
