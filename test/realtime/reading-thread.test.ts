import { afterEach, describe, expect, it } from 'vitest';
import { Feed } from '#src/realtime/feed/feed.ts';
import { MAX_FEED_BYTES, readFeed, UndecodableFeed } from '#src/realtime/feed/feed-reader.ts';
import { ReadingThread } from '#src/realtime/feed/reading-thread.ts';
import { encodeFeed, TIMESTAMP } from './feed-bytes.ts';

const failingThreads = new URL('./failing-threads.ts', import.meta.url).href;
const [FINE, THROWS, EXITS, HANGS] = [0, 1, 2, 3].map((how) => Buffer.of(how as number)) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
];

let thread: ReadingThread;
afterEach(() => thread.close());

describe('the reading thread', () => {
  it('the reading thread returns the same packed feed as reading in place, and leaves the bytes unchanged', async () => {
    thread = new ReadingThread();
    const bytes = encodeFeed({ timestamp: TIMESTAMP, trips: [{ tripId: 'one', stops: [{ stopId: 'A' }] }] });
    const packed = await thread.read(bytes);
    expect(packed).toEqual(readFeed(bytes));
    expect(new Feed(packed).findTrips('one')).toHaveLength(1);
  });

  it('the reading thread refuses invalid bytes with a named error and keeps reading', async () => {
    thread = new ReadingThread();
    const reading = thread.read(Buffer.from('<html>'));
    await expect(reading).rejects.toThrow(new UndecodableFeed('not a protobuf message'));
    await expect(thread.read(Buffer.alloc(MAX_FEED_BYTES + 1))).rejects.toThrow(UndecodableFeed);
    expect(await thread.read(encodeFeed({ timestamp: TIMESTAMP, trips: [] }))).toBeInstanceOf(ArrayBuffer);
  });

  it.each([
    ['throws', THROWS, 'a bug'],
    ['exits', EXITS, 'ended'],
    ['hangs', HANGS, 'took more than 1500 ms'],
  ])(
    'a reading thread that %s fails its pending reads with a named error, and a new one reads the next feed',
    async (_, how, problem) => {
      thread = new ReadingThread({ timeoutMs: 1500, program: failingThreads });
      const both = await Promise.allSettled([thread.read(how), thread.read(FINE)]);
      for (const one of both) {
        expect(one).toMatchObject({ status: 'rejected', reason: expect.any(UndecodableFeed) });
        expect(String((one as PromiseRejectedResult).reason)).toContain(problem);
      }
      expect(await thread.read(FINE)).toBeInstanceOf(ArrayBuffer);
    },
  );

  it('closing the reading thread fails its pending reads with a named error', async () => {
    thread = new ReadingThread({ program: failingThreads });
    const reading = thread.read(HANGS);
    await Promise.all([expect(reading).rejects.toThrow(UndecodableFeed), thread.close()]);
  });
});
