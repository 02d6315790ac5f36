import { afterEach, describe, expect, it } from 'vitest';
import { Feed } from '#src/realtime/feed/feed.ts';
import { MAX_FEED_BYTES, parseFeed, UndecodableFeed } from '#src/realtime/feed/feed-reader.ts';
import { type ReadFeed, ReadingThread } from '#src/realtime/feed/reading-thread.ts';
import { CALL } from '#src/realtime/prediction/run-columns.ts';
import { scheduleFile } from '#test/support/schedule-file.ts';
import { timetableOf } from '#test/support/timetable.ts';
import { encodeFeed, TIMESTAMP, tripsOf } from './feed-bytes.ts';

const failingThreads = new URL('./failing-threads.ts', import.meta.url).href;
const ONE_TRIP = encodeFeed({ timestamp: TIMESTAMP, trips: [{ tripId: 'one', stops: [{ stopId: 'A' }] }] });
const FINE = Buffer.concat([Buffer.of(0), new Uint8Array(parseFeed(ONE_TRIP))]);
const [THROWS, EXITS, HANGS] = [Buffer.of(1), Buffer.of(2), Buffer.of(3)] as const;

/** The bus of 13:30 is two minutes late. */
const TIMETABLE = timetableOf(
  scheduleFile('buses', {
    stops: [{ id: 'A' }, { id: 'B' }],
    trips: [
      {
        id: 'one',
        days: ['20260114'],
        calls: [
          ['A', '13:30'],
          ['B', '13:40'],
        ],
      },
    ],
  }),
);
const LATE = encodeFeed({
  timestamp: TIMESTAMP,
  trips: [{ tripId: 'one', stops: [{ stopId: 'A', departure: { delay: 120 } }] }],
});

/** How late each call is, in seconds. */
const latenessIn = ({ snapshot }: ReadFeed) =>
  snapshot &&
  Array.from(snapshot.sections.departure, (at, call) => at - (snapshot.sections.plannedDeparture[call] as number));

let thread: ReadingThread;
afterEach(() => thread.close());

describe('the reading thread', () => {
  it('the reading thread returns the same packed feed as reading in place, and leaves the bytes unchanged', async () => {
    thread = new ReadingThread();
    const { feed, snapshot } = await thread.parse('buses', ONE_TRIP);
    expect(feed.packed).toEqual(parseFeed(ONE_TRIP));
    expect(tripsOf(feed)).toHaveLength(1);
    expect(snapshot).toBeNull();
  });

  it('the reading thread refuses invalid bytes with a named error and keeps reading', async () => {
    thread = new ReadingThread();
    const reading = thread.parse('buses', Buffer.from('<html>'));
    await expect(reading).rejects.toThrow(new UndecodableFeed('not a protobuf message'));
    await expect(thread.parse('buses', Buffer.alloc(MAX_FEED_BYTES + 1))).rejects.toThrow(UndecodableFeed);
    expect((await thread.parse('buses', encodeFeed({ timestamp: TIMESTAMP, trips: [] }))).feed).toBeInstanceOf(Feed);
  });

  it.each([
    ['throws', THROWS, 'a bug'],
    ['exits', EXITS, 'ended'],
    ['hangs', HANGS, 'took more than 1500 ms'],
  ])(
    'a reading thread that %s fails its pending reads with a named error, and a new one reads the next feed',
    async (_, how, problem) => {
      thread = new ReadingThread({ timeoutMs: 1500, program: failingThreads });
      const both = await Promise.allSettled([thread.parse('buses', how), thread.parse('buses', FINE)]);
      for (const one of both) {
        expect(one).toMatchObject({ status: 'rejected', reason: expect.any(UndecodableFeed) });
        expect(String((one as PromiseRejectedResult).reason)).toContain(problem);
      }
      expect((await thread.parse('buses', FINE)).feed.headerAt).toBe(TIMESTAMP * 1000);
    },
  );

  it('the reading thread predicts the runs of feeds that it reads, and of those that another instance has read', async () => {
    thread = new ReadingThread();
    thread.use(TIMETABLE.packed);
    expect(latenessIn(await thread.parse('buses', LATE))).toEqual([120, 120]);
    const packed = parseFeed(LATE);
    const opened = await thread.open('buses', packed);
    expect(latenessIn(opened)).toEqual([120, 120]);
    expect(opened.feed.packed).toEqual(packed);
    expect((await thread.parse('buses-positions', ONE_TRIP)).snapshot).toBeNull();
    await expect(thread.open('buses', new ArrayBuffer(100))).rejects.toThrow(UndecodableFeed);
  });

  it('the reading thread uses the newest positions of the vehicles of a feed', async () => {
    thread = new ReadingThread();
    thread.use(TIMETABLE.packed);
    const isLeft = async () => {
      const trips = [{ tripId: 'one', stops: [{ stopId: 'B', arrival: { delay: 120 } }] }];
      const { snapshot } = await thread.parse('buses', encodeFeed({ timestamp: TIMESTAMP, trips }));
      return ((snapshot?.sections.state[0] ?? 0) & CALL.left) !== 0;
    };
    expect(await isLeft()).toBe(false);
    const vehicle = { trip: { tripId: 'one' }, position: { latitude: -33, longitude: 151 }, timestamp: TIMESTAMP };
    await thread.parse(
      'buses-positions',
      encodeFeed({ timestamp: TIMESTAMP, vehicles: [{ ...vehicle, stopId: 'B' }] }),
    );
    expect(await isLeft()).toBe(true);
  });

  it('a new reading thread has the timetable of the one that failed', async () => {
    thread = new ReadingThread({ program: failingThreads });
    thread.use(TIMETABLE.packed);
    for (let turn = 0; turn < 2; turn++) {
      await expect(thread.parse('buses', THROWS)).rejects.toThrow('a bug, after 1 timetables');
    }
  });

  it('closing the reading thread fails its pending reads with a named error', async () => {
    thread = new ReadingThread({ program: failingThreads });
    const reading = thread.parse('buses', HANGS);
    await Promise.all([expect(reading).rejects.toThrow(UndecodableFeed), thread.close()]);
  });
});
