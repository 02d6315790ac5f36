import { expect, it } from 'vitest';
import { createCallBalance } from '#src/access/call-balance.ts';

const DAY_MS = 86_400_000;

it('an account causes at most 1.2 calls for each request that it was charged, and a hundred more a day', () => {
  const clock = { now: () => now };
  let now = 0;
  const balance = createCallBalance(clock);
  for (let day = 0; day < 3; day++) {
    now = day * DAY_MS;
    let calls = 0;
    let charged = 0;
    for (let request = 0; request < 500; request++) {
      balance.noteCharged('greedy', 1);
      charged += 1;
      for (let call = 0; call < request % 13; call++) balance.noteCall('greedy');
      calls += request % 13;
      // One in three is given back, as a failure is.
      if (request % 3 === 0) {
        balance.noteCharged('greedy', -1);
        charged -= 1;
      }
      const owed = balance.owedBy('greedy');
      balance.noteCharged('greedy', owed);
      charged += owed;
      expect(calls).toBeLessThanOrEqual(1.2 * charged + 100);
    }
    expect(charged).toBeLessThan(calls);
  }
});

it('an account that causes a call a request owes nothing', () => {
  const balance = createCallBalance({ now: () => 0 });
  for (let request = 0; request < 5000; request++) {
    balance.noteCharged('usual', 1);
    balance.noteCall('usual');
    expect(balance.owedBy('usual')).toBe(0);
  }
});
