import { describe, expect, it } from 'vitest';
import { addMatches, NOTHING_COMPARED } from '#src/live/polling/match-rate.ts';

const MINUTE = 60_000;

describe('the share of live runs that the feed knows', () => {
  it('collapses below a half and recovers at seven tenths', () => {
    const good = addMatches(NOTHING_COMPARED, 100, 100, 0);
    const bad = addMatches(good, 0, 101, 0);
    expect([good.isCollapsed, bad.isCollapsed]).toEqual([false, true]);
    const better = addMatches(bad, 100, 100, 0);
    expect([better.isCollapsed, addMatches(better, 100, 100, 0).isCollapsed]).toEqual([true, false]);
  });

  it('says nothing before twenty runs have been compared', () => {
    expect(addMatches(NOTHING_COMPARED, 0, 19, 0).isCollapsed).toBe(false);
    expect(addMatches(NOTHING_COMPARED, 0, 20, 0).isCollapsed).toBe(true);
    expect(addMatches(NOTHING_COMPARED, 0, 0, 0).isCollapsed).toBe(false);
  });

  it('counts what was compared ten minutes ago half', () => {
    const old = addMatches(NOTHING_COMPARED, 1000, 1000, 0);
    expect(addMatches(old, 0, 600, 10 * MINUTE).isCollapsed).toBe(true);
    expect(addMatches(old, 0, 600, 0).isCollapsed).toBe(false);
  });
});
