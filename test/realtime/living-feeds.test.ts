import { describe, expect, it } from 'vitest';
import { findGap, listLivingFeeds } from '#src/realtime/live-feeds.ts';
import { judgePoll, UNREAD } from '#src/realtime/polling/feed-health.ts';
import type { FeedState } from '#src/realtime/polling/feed-sharing.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { feedOf } from './feed-bytes.ts';

const NOW = 1_768_357_645_000;

function stateAt(now: number, more: Partial<FeedState> = {}): FeedState {
  const feed = feedOf({ timestamp: now / 1000, trips: [] });
  const { health } = judgePoll(UNREAD, feed, now);
  return { feed, health, intervalMs: 15_000, polledAt: now, ...more };
}
const states = (entries: [FeedSourceId, FeedState][]) => new Map(entries);

describe('the feeds a board needs', () => {
  it('are all alive, or the first that is not is named with its problem', () => {
    const feeds = states([
      ['sydneytrains', stateAt(NOW)],
      ['buses', stateAt(NOW - 200_000)],
    ]);
    expect(findGap(['sydneytrains'], feeds, NOW)).toBeNull();
    expect(findGap(['sydneytrains', 'buses'], feeds, NOW)).toEqual({ source: 'buses', problem: 'an old header' });
    expect(findGap(['metro'], feeds, NOW)).toEqual({ source: 'metro', problem: 'not read yet' });
    expect(findGap([], feeds, NOW)).toBeNull();
  });

  it('a feed that is older than 45 s because it was not polled is a gap, and still alive', () => {
    const feeds = states([['MFF', stateAt(NOW - 46_000, { intervalMs: 120_000 })]]);
    expect(findGap(['MFF'], feeds, NOW - 2000)).toBeNull();
    expect(findGap(['MFF'], feeds, NOW)).toEqual({ source: 'MFF', problem: 'not polled lately' });
    expect(listLivingFeeds(feeds, NOW)).toHaveLength(1);
  });

  it('a feed that is polled less often because calls are very short is none, up to an age as many times higher', () => {
    const feeds = states([['buses', stateAt(NOW - 100_000, { intervalMs: 80_000, polledAt: NOW - 80_000 })]]);
    expect(findGap(['buses'], feeds, NOW)).toBeNull();
    const slow = states([['MFF', stateAt(NOW - 46_000, { intervalMs: 120_000 })]]);
    expect(findGap(['MFF'], slow, NOW)?.problem).toBe('not polled lately');
  });

  it('a feed that is older than 45 s although it was polled is none, until it is given up', () => {
    const feeds = states([['buses', stateAt(NOW - 60_000, { intervalMs: 20_000, polledAt: NOW - 20_000 })]]);
    expect(findGap(['buses'], feeds, NOW)).toBeNull();
  });

  it('a feed that knows too few of the live runs is a gap, however young', () => {
    const feeds = states([['buses', stateAt(NOW, { isCollapsed: true })]]);
    expect(findGap(['buses'], feeds, NOW)).toEqual({ source: 'buses', problem: 'runs are not found' });
    expect(listLivingFeeds(feeds, NOW)).toEqual([]);
  });

  it('only living feeds are laid over a timetable', () => {
    const feeds = states([
      ['sydneytrains', stateAt(NOW)],
      ['buses', stateAt(NOW - 200_000)],
      ['metro', { feed: null, health: UNREAD, intervalMs: 0, polledAt: 0 }],
    ]);
    expect(listLivingFeeds(feeds, NOW).map(({ modes }) => modes)).toEqual([['train']]);
  });
});
