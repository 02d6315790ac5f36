import { expect, it } from 'vitest';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { encodeFeed, entity, text } from '../feed-bytes.ts';
import { createInlineReader } from '../inline-reader.ts';
import { NOW, run, timetable, trip, update } from '../prediction/predicted.ts';

it('a feed reports what of it is unreadable, and which trips and stops the timetable lacks', async () => {
  const clock = createSimulatedClock(NOW);
  const planned = timetable([run('R', [5, 10])]);
  const feeds = new LiveFeeds({
    client: {
      async fetch() {
        const trips = [trip('R', [update('A', { time: 6 }), update('nowhere', { time: 8 })]), trip('unknown', [])];
        const withoutTrip = entity(text(''));
        return Buffer.concat([encodeFeed({ timestamp: Math.floor(clock.now() / 1000), trips }), withoutTrip]);
      },
    },
    reader: createInlineReader(),
    timetable: () => planned,
    sharing: createFeedSharing(null, clock.now),
    clock,
    log: createTestLog(),
  });
  feeds.request(['buses']);
  await clock.advance(2000);
  const [buses] = feeds.list();
  expect(buses?.leftOut).toEqual({
    unreadable: { count: 1, examples: [] },
    'stop not in the timetable': { count: 1, examples: ['R nowhere'] },
    'trip not in the timetable': { count: 1, examples: ['unknown'] },
  });
  const [snapshot] = feeds.snapshot()?.snapshots ?? [];
  expect(snapshot && feeds.publicationOf(snapshot)?.tripCount).toBe(2);
  await feeds.close();
});
