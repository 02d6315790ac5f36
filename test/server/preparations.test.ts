import { afterEach, expect, it, vi } from 'vitest';
import { Preparations } from '#src/server/preparations.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('the process is not ready until its preparations end, successfully or not', async () => {
  const preparations = new Preparations();
  const [threads, feeds] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  preparations.add('no threads', threads.promise);
  preparations.add('no feeds', feeds.promise);
  expect(preparations.missing()).toBe('no threads; no feeds');
  threads.resolve();
  await expect.poll(() => preparations.missing()).toBe('no feeds');
  feeds.reject(new Error('upstream is away'));
  await expect.poll(() => preparations.missing()).toBeNull();
});

it('a preparation that hangs does not keep the process from serving for more than ten seconds', async () => {
  vi.useFakeTimers();
  const preparations = new Preparations();
  preparations.add('no feeds', new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(9000);
  expect(preparations.missing()).toBe('no feeds');
  await vi.advanceTimersByTimeAsync(1000);
  expect(preparations.missing()).toBeNull();
});
