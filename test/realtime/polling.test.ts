import { describe, expect, it } from 'vitest';
import { FeedDemandCounter } from '#src/realtime/polling/feed-demand.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { chooseFeeds, nextPollAt, pollIntervalMs } from '#src/realtime/polling/poller.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const NOON = new Date('2026-01-14T01:00:00Z').getTime();
const NIGHT = new Date('2026-01-13T16:00:00Z').getTime();
const chosen = (demand: [FeedSourceId[], number][], running: FeedSourceId[] = [], stretch = 1) =>
  [
    ...chooseFeeds(
      demand.map(([sources, savedAnHour]) => ({ sources, savedAnHour })),
      new Set(running),
      stretch,
    ),
  ].sort();

describe('a feed is polled', () => {
  /** Seconds until the next poll, after one at noon that found a header so many seconds old. */
  function secondsAfter(
    source: FeedSourceId,
    { polledAt = NOON, headerAge = 5, asked = true, refusedInARow = 0, stretch = 1 } = {},
  ): number {
    const accepted = { at: polledAt, headerAt: polledAt - headerAge * SECOND, tripCount: 100 };
    const askedAt = asked ? polledAt + 1 : polledAt - 1;
    const last = {
      polledAt,
      intervalMs: pollIntervalMs(source, stretch),
      askedAt,
      health: { accepted, refusedInARow },
    };
    return (nextPollAt(source, last) - polledAt) / SECOND;
  }

  it('at its interval by day', () => {
    expect(secondsAfter('buses')).toBe(20);
    expect(pollIntervalMs('sydneytrains')).toBe(15 * SECOND);
  });

  it('a quarter as often at night, unless a board has been asked for since', () => {
    expect(secondsAfter('buses', { polledAt: NIGHT, asked: false })).toBe(80);
    expect(secondsAfter('buses', { polledAt: NIGHT })).toBe(20);
  });

  it('sooner when what boards show of it would become older than 45 s', () => {
    expect(secondsAfter('MFF', { headerAge: 5 })).toBe(38);
    expect(secondsAfter('metro', { headerAge: 25 })).toBe(18);
    expect(secondsAfter('metro', { headerAge: 12 })).toBe(30);
    expect(secondsAfter('MFF', { headerAge: 5, asked: false })).toBe(120);
  });

  it('up to four times less often when calls are very short, but every two minutes', () => {
    expect(secondsAfter('sydneytrains', { stretch: 4 })).toBe(60);
    expect(secondsAfter('buses', { stretch: 2 })).toBe(40);
    expect(secondsAfter('nswtrains', { stretch: 4 })).toBe(83);
    expect(secondsAfter('nswtrains', { stretch: 4, asked: false })).toBe(120);
    expect(secondsAfter('newcastle', { stretch: 4, asked: false })).toBe(120);
    expect(secondsAfter('metro', { stretch: 4, headerAge: 25 })).toBe(120);
    expect(secondsAfter('buses', { stretch: 4, polledAt: NIGHT, asked: false })).toBe(80);
  });

  it('every 15 s at most while its header stands still, and at its interval when that is for good', () => {
    expect(secondsAfter('MFF', { headerAge: 60 })).toBe(15);
    expect(secondsAfter('MFF', { headerAge: 91 })).toBe(120);
  });

  it('soon after one bad poll, and less and less while it fails again and again, down to every two minutes', () => {
    const after = (refusedInARow: number) => secondsAfter('buses', { refusedInARow });
    expect([1, 2, 4, 5, 6, 50].map(after)).toEqual([5, 20, 20, 40, 80, 120]);
    expect(secondsAfter('newcastle', { refusedInARow: 50 })).toBe(120);
  });
});

describe('a feed is worth its polls', () => {
  it('when the boards that need it would cost clearly more calls than it', () => {
    expect(chosen([[['buses'], 220]])).toEqual([]);
    expect(chosen([[['buses'], 230]])).toEqual(['buses']);
    expect(chosen([])).toEqual([]);
  });

  it('until it costs clearly more than they would', () => {
    expect(chosen([[['buses'], 140]], ['buses'])).toEqual(['buses']);
    expect(chosen([[['buses'], 130]], ['buses'])).toEqual([]);
  });

  it('for longer while it is polled less often because calls are very short', () => {
    expect(chosen([[['buses'], 40]], ['buses'], 4)).toEqual(['buses']);
    expect(chosen([[['buses'], 30]], ['buses'], 4)).toEqual([]);
  });

  it('together with the others that the same boards need, or not at all', () => {
    const board: FeedSourceId[] = ['sydneytrains', 'buses', 'metro'];
    expect(chosen([[board, 700]])).toEqual([...board].sort());
    expect(chosen([[board, 650]])).toEqual([]);
    expect(
      chosen([
        [board, 300],
        [['buses'], 400],
      ]),
    ).toEqual(['buses']);
    expect(
      chosen([
        [board, 500],
        [['buses'], 250],
      ]),
    ).toEqual([...board].sort());
  });

  it('never for boards that need no feed', () => {
    expect(chosen([[[], 10_000]])).toEqual([]);
  });
});

describe('the calls that feeds would save', () => {
  function demandOf(play: (note: (key: string) => void, wait: (ms: number) => void) => void): number {
    let moment = NOON;
    const demand = new FeedDemandCounter(() => moment);
    play(
      (key) => demand.note(key, ['buses']),
      (ms) => {
        moment += ms;
      },
    );
    return Math.round(demand.read().demand[0]?.savedAnHour ?? 0);
  }

  it('are one for each board and window of 15 s, however many requests there are', () => {
    const perHour = demandOf((note, wait) => {
      for (let window = 0; window < 240; window++) {
        for (let request = 0; request < 5; request++) note('200060');
        wait(15 * SECOND);
      }
    });
    expect(perHour).toBeGreaterThan(220);
    expect(perHour).toBeLessThan(250);
  });

  it('are none for boards that are asked for once', () => {
    expect(
      demandOf((note, wait) => {
        for (let stop = 0; stop < 500; stop++) {
          note(String(stop));
          wait(SECOND);
        }
      }),
    ).toBe(0);
  });

  it('are none for a board that is asked for again after more than an hour', () => {
    expect(
      demandOf((note, wait) => {
        for (let hour = 0; hour < 5; hour++) {
          note('200060');
          wait(61 * MINUTE);
        }
      }),
    ).toBe(0);
  });

  it('are forgotten when no board is asked for any more', () => {
    const perHour = demandOf((note, wait) => {
      for (let window = 0; window < 240; window++) {
        note('200060');
        wait(15 * SECOND);
      }
      wait(30 * MINUTE);
    });
    expect(perHour).toBeLessThan(5);
  });

  it('are told apart by the feeds that the boards need', () => {
    let moment = NOON;
    const demand = new FeedDemandCounter(() => moment);
    for (let window = 0; window < 3; window++) {
      demand.note('one', ['buses', 'metro']);
      demand.note('two', ['metro', 'buses']);
      demand.note('three', ['metro']);
      moment += 15 * SECOND;
    }
    expect(demand.read().demand.map(({ sources }) => sources)).toEqual([['buses', 'metro'], ['metro']]);
  });
});
