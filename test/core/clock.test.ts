import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { within, withOneReading, withTimeLimit } from '#src/core/clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work that ends only when it is aborted. */
const endless = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

describe('a time limit', () => {
  it('work with a time limit ends when the time is over', async () => {
    const outcome = withTimeLimit(1000, endless).catch((error) => error);
    vi.advanceTimersByTime(999);
    await Promise.resolve();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await outcome).toMatchObject({ name: 'TimeoutError' });
  });

  it.each(['before', 'meanwhile'])(
    'work with a time limit also ends when the other signal aborts (%s), with its reason',
    async (when) => {
      const other = new AbortController();
      if (when === 'before') other.abort('given up');
      const outcome = withTimeLimit(1000, endless, { signal: other.signal }).catch((error) => error);
      if (when === 'meanwhile') other.abort('given up');
      expect(await outcome).toBe('given up');
    },
  );

  it('work with a time limit leaves no timer behind when it is done', async () => {
    const other = new AbortController();
    const signal = await withTimeLimit(1000, async (signal) => signal, { signal: other.signal });
    expect(vi.getTimerCount()).toBe(0);
    other.abort();
    expect(signal.aborted).toBe(false);
  });

  it('a time limit ends the wait for work that continues, with the given error', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const outcome = within(1000, promise, () => new Error('late')).catch((error: Error) => error.message);
    vi.advanceTimersByTime(1000);
    expect(await outcome).toBe('late');
    resolve('done');
    expect(await within(1000, promise, () => new Error('late'))).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a clock read once', () => {
  it('a clock read once shows the same time until the current work waits, and the new time afterwards', async () => {
    let ms = 0;
    const now = withOneReading(() => ms++);
    const first = now();
    expect([first, now(), now()]).toEqual([0, 0, 0]);
    await Promise.resolve();
    expect([now(), now()]).toEqual([1, 1]);
  });
});
