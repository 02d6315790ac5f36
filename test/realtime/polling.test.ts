import { describe, expect, it } from 'vitest';
import { judgePoll, UNREAD } from '#src/realtime/polling/feed-health.ts';
import { FEED_SOURCES, type FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { nextPollAt } from '#src/realtime/polling/poller.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const NOON = new Date('2026-01-14T01:00:00Z').getTime();
const NIGHT = new Date('2026-01-13T16:00:00Z').getTime();

describe('the polling interval of a feed', () => {
  /** Seconds until the next poll, after a poll at noon that found a header of the given age. */
  function secondsAfter(
    source: FeedSourceId,
    { polledAt = NOON, headerAge = 5, needed = true, refusedInARow = 0, tripCount = 100 } = {},
  ): number {
    const accepted = { at: polledAt, headerAt: polledAt - headerAge * SECOND, tripCount };
    const neededAt = needed ? polledAt + 1 : polledAt - 1;
    const last = { polledAt, neededAt, health: { accepted, refusedInARow } };
    return (nextPollAt(source, last) - polledAt) / SECOND;
  }

  it('a feed is polled at its own interval by day', () => {
    expect(secondsAfter('buses', { headerAge: 3 })).toBe(40);
    expect(secondsAfter('sydneytrains')).toBe(30);
  });

  it('a feed is polled a quarter as often at night unless it was needed since', () => {
    expect(secondsAfter('buses', { polledAt: NIGHT, needed: false })).toBe(160);
    expect(secondsAfter('buses', { polledAt: NIGHT })).toBe(38);
  });

  it('a feed without trips is polled half as often', () => {
    expect(secondsAfter('metro', { tripCount: 0 })).toBe(80);
    expect(secondsAfter('metro', { tripCount: 0, headerAge: 30 })).toBe(80);
    expect(secondsAfter('metro', { tripCount: 1 })).toBe(38);
  });

  it('a feed is polled earlier when its data would become older than 45 s', () => {
    expect(secondsAfter('MFF', { headerAge: 5 })).toBe(38);
    expect(secondsAfter('metro', { headerAge: 25 })).toBe(18);
    expect(secondsAfter('metro', { headerAge: 1 })).toBe(40);
    expect(secondsAfter('MFF', { headerAge: 5, needed: false })).toBe(40);
  });

  it('a feed whose header stands still is polled every 15 s, and at its own interval once that persists', () => {
    expect(secondsAfter('MFF', { headerAge: 60 })).toBe(15);
    expect(secondsAfter('MFF', { headerAge: 91 })).toBe(40);
  });

  it('a feed is polled soon after one bad poll, then ever less often, down to every two minutes', () => {
    const after = (refusedInARow: number) => secondsAfter('buses', { refusedInARow });
    expect([1, 2, 4, 5, 6, 50].map(after)).toEqual([5, 38, 38, 80, 120, 120]);
    expect(secondsAfter('newcastle', { refusedInARow: 50 })).toBe(120);
  });
});

describe('all feeds needed all day', () => {
  /** Simulates a day of polls of one feed whose headers are 3 s old when read; frozen headers are from last year. */
  function pollsADay(source: FeedSourceId, { isFrozen = false } = {}): number {
    let polls = 0;
    let health = UNREAD;
    const end = NOON + 24 * 60 * MINUTE;
    for (let at = NOON; at < end; polls++) {
      const headerAt = isFrozen ? NOON - 365 * 24 * 60 * MINUTE : at - 3 * SECOND;
      health = judgePoll(health, { headerAt, tripCount: 100 }, at).health;
      at = nextPollAt(source, { polledAt: at, neededAt: at + 1, health });
    }
    return polls;
  }

  it('polling all feeds all day takes about 21,000 upstream calls', () => {
    const sources = (Object.keys(FEED_SOURCES) as FeedSourceId[]).filter((source) => source !== 'MFF');
    const polls = sources.map((source) => pollsADay(source)).reduce((sum, count) => sum + count, 0);
    expect(polls + pollsADay('MFF', { isFrozen: true })).toBeLessThan(20_900);
  });
});
