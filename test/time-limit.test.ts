import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTimeLimit } from '#src/time-limit.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a time limit', () => {
  it('ends the work when the time is over', () => {
    const { signal } = startTimeLimit(1000);
    vi.advanceTimersByTime(999);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it.each(['before', 'meanwhile'])('ends the work for the reason for which the other signal was aborted %s', (when) => {
    const other = new AbortController();
    if (when === 'before') other.abort('given up');
    const { signal } = startTimeLimit(1000, other.signal);
    if (when === 'meanwhile') other.abort('given up');
    expect(signal.reason).toBe('given up');
  });

  it('leaves nothing behind when the work is done', () => {
    const other = new AbortController();
    const limit = startTimeLimit(1000, other.signal);
    limit.clear();
    expect(vi.getTimerCount()).toBe(0);
    other.abort();
    expect(limit.signal.aborted).toBe(false);
  });
});
