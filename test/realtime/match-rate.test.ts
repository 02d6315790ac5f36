import { describe, expect, it } from 'vitest';
import { MatchRate } from '#src/realtime/polling/feed-health.ts';

const MINUTE = 60_000;

/** Whether the rate is collapsed after each of these additions. */
function collapses(...added: (readonly [found: number, compared: number, at?: number])[]): boolean[] {
  const rate = new MatchRate();
  return added.map(([found, compared, at = 0]) => {
    rate.add(found, compared, at);
    return rate.isCollapsed;
  });
}

describe('the share of live runs that the feed knows', () => {
  it('collapses below a half and recovers at seven tenths', () => {
    expect(collapses([100, 100], [0, 101], [100, 100], [100, 100])).toEqual([false, true, true, false]);
  });

  it('says nothing before twenty runs have been compared', () => {
    expect(collapses([0, 19])).toEqual([false]);
    expect(collapses([0, 20])).toEqual([true]);
    expect(collapses([0, 0])).toEqual([false]);
  });

  it('recovers at night too, when few runs are compared', () => {
    const quiet = Array.from({ length: 6 }, (_, index): [number, number, number] => [3, 3, (60 + 10 * index) * MINUTE]);
    expect(collapses([0, 40], ...quiet).at(-1)).toBe(false);
    // Runs that are still not found do not bring it back.
    expect(collapses([0, 40], ...quiet.map(([, compared, at]) => [0, compared, at] as const)).at(-1)).toBe(true);
  });

  it('is known as long as runs were compared lately', () => {
    const rate = new MatchRate();
    expect(rate.share(0)).toBeNull();
    rate.add(30, 40, 0);
    expect(rate.share(0)).toBe(0.75);
    expect(rate.share(24 * 60 * MINUTE)).toBeNull();
  });

  it('counts what was compared ten minutes ago half', () => {
    expect(collapses([1000, 1000], [0, 600, 10 * MINUTE])).toEqual([false, true]);
    expect(collapses([1000, 1000], [0, 600])).toEqual([false, false]);
  });
});
