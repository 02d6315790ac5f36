import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed, UndecodableFeed } from '#src/realtime/feed/feed-reader.ts';
import {
  type FeedHealth,
  findFeedProblem,
  judgePoll,
  type PollFailure,
  UNREAD,
} from '#src/realtime/polling/feed-health.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import { scheduleFile } from '#test/support/schedule-file.ts';
import { timetableOf } from '#test/support/timetable.ts';
import { encodeFeed, type TripSpec } from './feed-bytes.ts';

const START = 1_768_357_645;
const INTERVAL_SECONDS = 15;
const MAX_AGE_SECONDS = 105;

/** Thirty runs, one every two minutes from 13:28 in Sydney on. */
const RUNS = Array.from({ length: 30 }, (_, run) => `run ${run}`);
const timetable = timetableOf(
  scheduleFile('sydneytrains', {
    stops: [{ id: 'P1' }, { id: 'P2' }],
    routes: [{ id: 'R', mode: 'train' }],
    trips: RUNS.map((id, run) => {
      const leaves = 13 * 3600 + 28 * 60 + run * 120;
      return {
        id,
        days: ['20260114'],
        calls: [
          ['P1', leaves],
          ['P2', leaves + 600],
        ],
      };
    }),
  }),
);
const planned = createPlannedRuns(timetable);
const soundTrips: TripSpec[] = RUNS.map((tripId) => ({ tripId, stops: [{ stopId: 'P1', departure: { delay: 60 } }] }));
const feedAt = (timestamp: number, trips = soundTrips) => encodeFeed({ timestamp, trips });

/** Upstream's response to a poll at that second. */
type Poll = (second: number) => Buffer | PollFailure;
const sound: Poll = (second) => feedAt(second - 5);
const halved: Poll = (second) => feedAt(second - 5, soundTrips.slice(0, 10));
const bad: Poll[] = [
  () => feedAt(START - 5),
  halved,
  (second) => feedAt(second + 3600),
  (second) => feedAt(second - 600),
  (second) => feedAt(second - 5).subarray(0, 200),
  () => Buffer.from('<html>Service unavailable</html>'),
  () => Buffer.alloc(100_000, 0xff),
  () => Buffer.alloc(0),
  () => 'no response',
  () => 'not 200',
  () => 'a web page',
];

function read(response: Buffer | PollFailure): Feed | PollFailure {
  if (typeof response === 'string') return response;
  try {
    return new Feed(parseFeed(response));
  } catch (error) {
    expect(error).toBeInstanceOf(UndecodableFeed);
    return 'undecodable';
  }
}

/** Ten polls take 150 s, after which a feed that was sound before them is too old. */
const TAIL = 10;

const snapshots = new WeakMap<Feed, Snapshot>();
function snapshotOf(feed: Feed): Snapshot {
  const known = snapshots.get(feed) ?? new Snapshot(predictFeed(planned, { source: 'sydneytrains', feed }));
  snapshots.set(feed, known);
  return known;
}

/** The ages of the live runs after each poll of the day. */
function liveThrough(day: readonly Poll[]) {
  let health: FeedHealth = UNREAD;
  let feed: Feed | null = null;
  return day.map((response, index) => {
    const second = START + index * INTERVAL_SECONDS;
    const poll = read(response(second));
    const judged = judgePoll(health, poll, second * 1000);
    health = judged.health;
    if (judged.isAccepted && typeof poll !== 'string') feed = poll;
    const isAlive = findFeedProblem(health, INTERVAL_SECONDS * 1000, second * 1000) === null;
    if (!feed || !isAlive) return [];
    const { runCount, headerAt } = snapshotOf(feed);
    return Array<number>(runCount).fill(second - headerAt / 1000);
  });
}

it('a run is live only through a feed whose header is at most 105 s old, whatever upstream returns', () => {
  const responses = fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant(sound) }, fc.constantFrom(...bad)), {
    minLength: 5,
    maxLength: 40,
  });
  let seen = 0;
  fc.assert(
    fc.property(responses, (day) => {
      liveThrough(day).forEach((ages, index) => {
        seen += ages.length;
        for (const age of ages) expect(age).toBeLessThanOrEqual(MAX_AGE_SECONDS);
        const tail = day.slice(Math.max(0, index - TAIL + 1), index + 1);
        const isGivenUp = tail.length === TAIL && !tail.includes(sound) && !tail.includes(halved);
        if (isGivenUp) expect(ages).toEqual([]);
      });
    }),
  );
  expect(seen).toBeGreaterThan(0);
});

it.each(bad.map((response, index) => [index, response] as const))(
  'a feed with bad responses of kind %i stops being live',
  (_, response) => {
    const day = [...Array<Poll>(5).fill(sound), ...Array<Poll>(TAIL).fill(response)];
    const lives = liveThrough(day).map(({ length }) => length);
    expect(lives[4]).toBe(30);
    expect(lives.at(-1)).toBe(0);
  },
);
