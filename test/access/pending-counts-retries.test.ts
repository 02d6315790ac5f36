import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PendingCounts } from '#src/access/pending-counts.ts';
import { UnavailableError } from '#src/core/redis/connection.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Adds one count that the store cannot take at first. */
function startWithFailure(reason: 'refused' | 'no-response') {
  const store = { isUnreachable: false, failure: reason as typeof reason | null, total: 0 };
  const presence = {
    isUnreachable: () => store.isUnreachable,
    watch: <T>(_key: string, call: Promise<T>) => call,
    close() {},
  };
  const pending = new PendingCounts({
    presence,
    async update({ count }) {
      store.isUnreachable = store.failure === 'no-response';
      if (store.failure) throw new UnavailableError('not now', store.failure);
      store.total += count;
      return 0;
    },
  });
  pending.add('account', '20261121', 1);
  pending.schedule();
  return { store, pending };
}

it('pending counts are sent a tenth of a second after the store is back', async () => {
  const { store } = startWithFailure('no-response');
  await vi.advanceTimersByTimeAsync(300);
  expect(store.isUnreachable).toBe(true);
  Object.assign(store, { isUnreachable: false, failure: null });
  await vi.advanceTimersByTimeAsync(100);
  expect(store.total).toBe(1);
});

it('counts that the store refused are sent again after a second, not sooner', async () => {
  const { store } = startWithFailure('refused');
  await vi.advanceTimersByTimeAsync(100);
  store.failure = null;
  await vi.advanceTimersByTimeAsync(999);
  expect(store.total).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(store.total).toBe(1);
});

it('pending counts are sent at shutdown if the store comes back within two seconds', async () => {
  const { store, pending } = startWithFailure('no-response');
  const left = pending.close();
  await vi.advanceTimersByTimeAsync(1500);
  expect(store.total).toBe(0);
  Object.assign(store, { isUnreachable: false, failure: null });
  await vi.advanceTimersByTimeAsync(200);
  expect(store.total).toBe(1);
  await expect(left).resolves.toBe(0);
});

it('unsent counts are dropped two seconds into a shutdown, and the log gives the number of accounts', async () => {
  const { pending } = startWithFailure('no-response');
  const left = pending.close();
  await vi.advanceTimersByTimeAsync(2200);
  await expect(left).resolves.toBe(1);
});
