import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Batch } from '#src/access/store.ts';
import { createTally } from '#src/access/tally.ts';

/** A store that is told batches and takes each number once, and whose answers get lost now and then. */
function createForgetfulStore(loses: () => boolean) {
  let last = 0;
  const store = {
    total: 0,
    async add({ count, number }: Batch) {
      await sleep(Math.random() * 3);
      if (number > last) {
        last = number;
        store.total += count;
      }
      if (loses()) throw new Error('the answer got lost');
    },
  };
  return store;
}

const all = () => true;

it('tells the store each request once, whatever is added or lost while it does', async () => {
  const store = createForgetfulStore(() => Math.random() < 0.3);
  const tally = createTally(store, 'me');
  let added = 0;
  const settling: Promise<void>[] = [];
  for (let n = 0; n < 2000; n++) {
    const count = n % 5 === 0 ? -1 : 1;
    tally.add('account', '20261121', count);
    added += count;
    if (n % 3 === 0) settling.push(tally.settle(all).catch(() => {}));
    if (n % 50 === 0) await sleep(1);
  }
  await Promise.all(settling);
  while (tally.unsettled().length > 0) await tally.settle(all).catch(() => {});
  expect(store.total).toBe(added);
});

it('has told what was added before it was asked to, also when it was busy telling something else', async () => {
  const store = createForgetfulStore(() => false);
  const tally = createTally(store, 'me');
  tally.add('account', '20261121', 1);
  const first = tally.settle(all);
  tally.add('account', '20261121', 1);
  await tally.settle(all);
  expect(store.total).toBe(2);
  await first;
});

it('comes to an end while more is added all the time', async () => {
  const store = createForgetfulStore(() => false);
  const tally = createTally(store, 'me');
  const adding = setInterval(() => tally.add('account', '20261121', 1), 1);
  tally.add('account', '20261121', 1);
  await tally.settle(all);
  clearInterval(adding);
});
