import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FeedHealth,
  findFeedProblem,
  judgePoll,
  type PollFailure,
  UNREAD,
} from '#src/realtime/polling/feed-health.ts';

const START = 1_768_357_645_000;
const SECOND = 1000;
const INTERVAL = 15 * SECOND;
const feed = (headerAt: number, tripCount = 500) => ({ headerAt, tripCount });

/** Polls every 15 s from the start; `poll` gives the result for each time. */
function pollFrom(
  health: FeedHealth,
  start: number,
  count: number,
  poll: (now: number) => ReturnType<typeof feed> | PollFailure,
): { health: FeedHealth; now: number } {
  let judged = health;
  for (let index = 0; index < count; index++) {
    const now = start + index * INTERVAL;
    judged = judgePoll(judged, poll(now), now).health;
  }
  return { health: judged, now: start + (count - 1) * INTERVAL };
}

const sound = (now: number) => feed(now - 5 * SECOND);
const { health: healthy, now: NOW } = pollFrom(UNREAD, START, 4, sound);
const problemAt = (health: FeedHealth, now: number, intervalMs = INTERVAL) => findFeedProblem(health, intervalMs, now);

/** The problem at each poll after four sound ones. */
function problemsOf(count: number, poll: (now: number) => ReturnType<typeof feed> | PollFailure) {
  return Array.from({ length: count }, (_, index) => {
    const { health, now } = pollFrom(healthy, NOW + INTERVAL, index + 1, poll);
    return problemAt(health, now);
  });
}

describe('a trusted feed', () => {
  it('a feed is trusted after its first sound poll', () => {
    expect(problemAt(UNREAD, START)).toBe('not read yet');
    expect(problemAt(pollFrom(UNREAD, START, 1, sound).health, START)).toBeNull();
  });

  it('a feed is trusted while its header is younger than 90 s plus one interval', () => {
    const { headerAt } = healthy.accepted ?? { headerAt: 0 };
    expect(problemAt(healthy, headerAt + 105 * SECOND)).toBeNull();
    expect(problemAt(healthy, headerAt + 106 * SECOND)).toBe('an old header');
    expect(problemAt(healthy, headerAt + 106 * SECOND, 120 * SECOND)).toBeNull();
  });

  it('a feed stays trusted through two failed polls but not through three', () => {
    for (const failure of ['no response', 'not 200', 'a web page', 'undecodable', 'no calls left'] as const) {
      expect(problemsOf(3, () => failure)).toEqual([null, null, failure]);
    }
  });

  it('a distrusted feed is trusted again after one sound poll', () => {
    const failing = pollFrom(healthy, NOW + INTERVAL, 20, () => 'not 200');
    const next = failing.now + INTERVAL;
    expect(problemAt(judgePoll(failing.health, sound(next), next).health, next)).toBeNull();
  });
});

describe('a distrusted feed', () => {
  it('a feed that was never read is not trusted', () => {
    expect(problemAt(pollFrom(UNREAD, START, 2, () => 'undecodable').health, START)).toBe('undecodable');
  });

  it('a feed whose header stands still for two minutes is not trusted', () => {
    const { headerAt } = healthy.accepted ?? { headerAt: 0 };
    const problems = problemsOf(12, () => feed(headerAt));
    expect(problems.slice(0, 6)).toEqual(Array(6).fill(null));
    expect(problems.slice(7)).toEqual(Array(5).fill('a frozen header'));
    const ahead = problemsOf(12, () => feed(NOW + 40 * SECOND));
    expect(ahead.slice(0, 8)).toEqual(Array(8).fill(null));
    expect(ahead.slice(9)).toEqual(Array(3).fill('a frozen header'));
  });

  it('a feed whose header is older than 90 s when polled is not trusted', () => {
    const tooOld = (now: number) => feed(now - 91 * SECOND);
    expect(problemAt(pollFrom(UNREAD, START, 1, tooOld).health, START)).toBe('an old header');
    expect(problemsOf(8, tooOld).slice(0, 6)).toEqual(Array(6).fill(null));
    expect(problemsOf(8, tooOld).slice(6)).not.toContain(null);
  });

  it('a feed whose header is more than 30 s in the future is not trusted', () => {
    expect(problemsOf(3, (now) => feed(now + 31 * SECOND))[2]).toBe('a header from the future');
    expect(problemsOf(3, (now) => feed(now + 29 * SECOND))[2]).toBeNull();
  });

  it('a feed that loses more than half its trips at once is distrusted until that has lasted ten minutes', () => {
    const problems = problemsOf(45, (now) => feed(now, 249));
    expect(problems.slice(0, 3)).toEqual([null, null, 'halved']);
    expect(problems[38]).toBe('halved');
    expect(problems[40]).toBeNull();
  });

  it.each([
    ['after sound polls', healthy],
    ['as the first one', UNREAD],
  ])('a feed that is normal again after one with too many trips is trusted, %s', (_, before) => {
    const wild = judgePoll(before, feed(NOW + SECOND, 20_000), NOW + SECOND);
    expect(wild.isAccepted).toBe(true);
    const normal = judgePoll(wild.health, feed(NOW + INTERVAL, 500), NOW + INTERVAL);
    expect(normal.isAccepted).toBe(true);
    const halved = judgePoll(normal.health, feed(NOW + 2 * INTERVAL, 249), NOW + 2 * INTERVAL);
    expect(halved.health.refusal).toBe('halved');
  });

  it('a feed that halves after ten minutes at a larger size is distrusted', () => {
    const isAcceptedAfter = (minutes: number) => {
      const grown = pollFrom(healthy, NOW + INTERVAL, minutes * 4, (now) => feed(now, 2000));
      return judgePoll(grown.health, feed(grown.now + INTERVAL, 900), grown.now + INTERVAL).isAccepted;
    };
    expect([isAcceptedAfter(9), isAcceptedAfter(11)]).toEqual([true, false]);
  });

  it('a feed that halves after slow growth is distrusted', () => {
    const growing = pollFrom(healthy, NOW + INTERVAL, 5, (now) => feed(now, 500 * 1.4 ** ((now - NOW) / INTERVAL)));
    expect(judgePoll(growing.health, feed(growing.now + SECOND, 1000), growing.now + SECOND).isAccepted).toBe(false);
  });

  it('a feed that shrinks slowly is trusted, and so is one that was always small', () => {
    const shrinking = problemsOf(20, (now) => feed(now, Math.floor(500 * 0.6 ** ((now - NOW) / INTERVAL))));
    expect(shrinking).toEqual(Array(20).fill(null));
    const small = pollFrom(UNREAD, START, 2, (now) => feed(now, 19));
    const empty = pollFrom(small.health, small.now + INTERVAL, 3, (now) => feed(now, 0));
    expect(problemAt(empty.health, empty.now)).toBeNull();
  });
});

describe('an accepted poll', () => {
  it('an accepted poll has a newer header, so an older one from another machine is skipped', () => {
    const now = NOW + INTERVAL;
    const older = judgePoll(healthy, feed((healthy.accepted?.headerAt ?? 0) - 10 * SECOND), now);
    expect(older.isAccepted).toBe(false);
    expect(older.health.accepted?.headerAt).toBe(healthy.accepted?.headerAt);
    expect(judgePoll(healthy, sound(now), now).isAccepted).toBe(true);
  });

  it('a poll of a halved, old or future feed is not accepted', () => {
    for (const bad of [feed(NOW, 100), feed(NOW - 100 * SECOND), feed(NOW + 100 * SECOND)]) {
      expect(judgePoll(healthy, bad, NOW).isAccepted).toBe(false);
    }
  });
});

it('a feed is trusted only while an accepted header is at most 105 s old, whatever the polls return', () => {
  const poll = fc.oneof(
    fc.constantFrom<PollFailure>('no response', 'not 200', 'a web page', 'undecodable', 'no calls left'),
    fc.record({ headerAt: fc.integer({ min: -300, max: 300 }), tripCount: fc.nat(600) }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(poll, fc.nat(60)), { maxLength: 30 }), (polls) => {
      let health = UNREAD;
      let now = START;
      const headers: number[] = [];
      for (const [given, pause] of polls) {
        now += pause * SECOND;
        const seen = typeof given === 'string' ? given : { ...given, headerAt: now + given.headerAt * SECOND };
        if (typeof seen !== 'string') headers.push(seen.headerAt);
        health = judgePoll(health, seen, now).health;
        const isYoung = headers.some((header) => now - header <= 105 * SECOND && header <= now + 30 * SECOND);
        if (problemAt(health, now) === null) expect(isYoung).toBe(true);
      }
    }),
  );
});
