import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PendingCounts, recordUsed } from '#src/access/pending-counts.ts';
import type { CountUpdate } from '#src/access/store.ts';
import { UnavailableError } from '#src/core/redis/connection.ts';

const DAY = '20261121';
const ALWAYS_THERE = {
  presence: { isUnreachable: () => false, watch: <T>(_key: string, call: Promise<T>) => call, close() {} },
};

/** A store that applies each update once, as Redis does, and sometimes loses its acknowledgement. */
function createLossyStore(losesAnswer: () => boolean) {
  let last = 0;
  const store = {
    total: 0,
    usedBySender: 0,
    async update({ count, unacknowledged, usedBySenderBefore, number }: CountUpdate) {
      for (let turns = Math.random() * 3; turns > 0; turns--) await nextTurn();
      if (number > last) {
        last = number;
        store.total += count - Math.min(unacknowledged, Math.max(0, store.usedBySender - usedBySenderBefore));
        // The next sender's count starts from zero.
        if (unacknowledged > 0) store.usedBySender = 0;
      }
      if (losesAnswer()) throw new UnavailableError('the answer got lost', 'no-response');
      return store.usedBySender;
    },
  };
  return store;
}

it('the store counts each request once, whatever is added or lost in between', async () => {
  const store = createLossyStore(() => Math.random() < 0.3);
  const pending = new PendingCounts({ ...ALWAYS_THERE, update: store.update });
  let added = 0;
  const settling: Promise<boolean>[] = [];
  for (let n = 0; n < 2000; n++) {
    const count = n % 5 === 0 ? -1 : 1;
    pending.add('account', n % 7 === 0 ? '20261122' : DAY, count);
    added += count;
    if (n % 3 === 0) settling.push(pending.reconcile('account'));
    if (n % 50 === 0) await nextTurn();
  }
  await Promise.all(settling);
  while (pending.has('account')) await pending.reconcile('account');
  expect(store.total).toBe(added);
});

it('a reconciliation includes requests added while an earlier update was in transit', async () => {
  const store = createLossyStore(() => false);
  const pending = new PendingCounts({ ...ALWAYS_THERE, update: store.update });
  pending.add('account', DAY, 1);
  const first = pending.reconcile('account');
  pending.add('account', DAY, 1);
  await pending.reconcile('account');
  expect(store.total).toBe(2);
  await first;
});

it('a reconciliation ends even if every update brings more requests', async () => {
  const store = createLossyStore(() => false);
  let updates = 0;
  const pending = new PendingCounts({
    ...ALWAYS_THERE,
    update(update: CountUpdate) {
      if (++updates < 100) pending.add('account', DAY, 1);
      return store.update(update);
    },
  });
  pending.add('account', DAY, 1);
  await pending.reconcile('account');
  expect(updates).toBeLessThan(5);
  expect(store.total).toBeGreaterThanOrEqual(1);
});

describe('unacknowledged requests', () => {
  it('unacknowledged requests are counted once in the end, whether or not the store had counted them', async () => {
    const store = createLossyStore(() => false);
    const pending = new PendingCounts({ ...ALWAYS_THERE, update: store.update });
    store.usedBySender = 5;
    recordUsed(pending.senderOf('account', DAY), 3);
    for (const isServed of [true, true, false]) pending.addUnacknowledged('account', DAY, isServed);
    await pending.reconcile('account');
    // Two requests were served and the store had counted two, so none is missing.
    expect(store.total).toBe(0);
  });

  it('unacknowledged requests are not confused with the requests of an earlier loss', async () => {
    const store = createLossyStore(() => false);
    const pending = new PendingCounts({ ...ALWAYS_THERE, update: store.update });
    store.usedBySender = 1;
    const sender = pending.senderOf('account', DAY);
    pending.addUnacknowledged('account', DAY, true);
    await pending.reconcile('account');
    expect(store.total).toBe(0);
    expect(pending.senderOf('account', DAY)).not.toBe(sender);
    pending.addUnacknowledged('account', DAY, true);
    await pending.reconcile('account');
    expect(store.total).toBe(1);
  });
});
