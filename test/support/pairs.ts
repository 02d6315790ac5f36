import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { Runs } from '#src/boards/runs.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import { StopRegister } from '#src/stops/register.ts';
import { type StopRecord, tableOf } from '#src/stops/table.ts';
import { type FeedSpec, feedOf } from '#test/realtime/feed-bytes.ts';
import { buildTestApp } from '#test/support/app.ts';
import { type MadeSchedule, scheduleFile } from '#test/support/schedule-file.ts';
import { timetableOf } from '#test/support/timetable.ts';
import { startUpstream } from '#test/support/upstream.ts';

/** One fixture file: a request, upstream's responses, and our response. The file name says which quirk it shows. */
export interface Pair {
  name: string;
  /** Path and query. */
  request: string;
  now: string;
  /** Upstream's responses, by endpoint or by endpoint and stop. */
  upstream: Record<string, unknown>;
  /** The stops that the service knows without a request. */
  stops?: StopRecord[];
  /** The timetable of trains that the feeds need. */
  schedule?: MadeSchedule;
  /** The feeds that were just polled. */
  feeds?: Partial<Record<FeedSourceId, FeedSpec>>;
  answer: { status: number; body: unknown } | { status: number; error: { code: string; message_holds: string } };
}

/** All pairs of `test/fixtures/<operation>`. */
export function listPairs(operation: string): Pair[] {
  const folder = new URL(`../fixtures/${operation}/`, import.meta.url);
  const files = readdirSync(folder).sort();
  if (files.length === 0) throw new Error(`there are no fixtures of ${operation}`);
  const read = (file: string) => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  return files.map((file) => ({ name: file.replace(/\.json$/, ''), ...read(file) }));
}

/** The whole service, with upstream answering as in the pair. */
export async function openPair({
  now,
  upstream: answers,
  feeds,
  schedule,
  stops = [],
}: Omit<Pair, 'name' | 'request' | 'answer'>) {
  const upstream = await startUpstream((sent, response) => {
    const { pathname, searchParams } = new URL(sent.url, 'http://upstream.test');
    const endpoint = pathname.split('/').at(-1) as string;
    const answer = answers[`${endpoint} ${searchParams.get('name_dm')}`] ?? answers[endpoint];
    response.writeHead(answer === undefined ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  const register = new StopRegister(() => tableOf(stops));
  const app = await buildTestApp({
    upstream: upstream.url,
    now,
    stops: register,
    ...(feeds && schedule && { runs: runsWith(schedule, feeds, now) }),
  });
  app.addHook('onClose', () => upstream.close());
  return app;
}

/** Makes the pair's request and compares the whole response. */
export async function expectPair({ request, answer: expected, ...pair }: Pair): Promise<void> {
  const app = await openPair(pair);
  try {
    const response = await app.inject(request);
    if ('error' in expected) {
      expect(response.json().error).toMatchObject({ code: expected.error.code });
      expect(response.json().error.message).toContain(expected.error.message_holds);
    } else {
      expect(response.json()).toEqual(expected.body);
    }
    expect(response.statusCode).toBe(expected.status);
  } finally {
    await app.close();
  }
}

/** The runs of a service with this timetable of trains and these feeds, read now. */
function runsWith(schedule: MadeSchedule, specs: NonNullable<Pair['feeds']>, now: string): Runs {
  const timetable = timetableOf(scheduleFile('sydneytrains', schedule));
  const planned = createPlannedRuns(timetable);
  const snapshots = (Object.entries(specs) as [FeedSourceId, FeedSpec][]).map(
    ([source, spec]) => new Snapshot(predictFeed(planned, { source, feed: feedOf(spec) })),
  );
  const feeds = {
    request: () => {},
    untilRead: async () => {},
    snapshot: () => new LiveTimetable(timetable, snapshots),
    list: () => [],
    freshUntil: () => Date.parse(now) + 2000,
  };
  return new Runs({ now: () => Date.parse(now), feeds, timetable: { get: () => timetable } });
}
