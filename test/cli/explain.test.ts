import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunningReport } from '#src/cli/explain.ts';
import { runTimetable } from '#src/cli/timetable.ts';
import { explainBoard } from '#src/realtime/explain-board.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { openOperatorSocket, operatorFolder } from '#src/server/operator-socket.ts';
import { feedOf, type TripSpec } from '#test/realtime/feed-bytes.ts';
import {
  departs,
  NOW,
  predict,
  run as runOf,
  skipped,
  TRIP,
  timetable as timetableFrom,
  trip,
  update,
} from '#test/realtime/prediction/predicted.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';

let dataDir: string;
const closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'explain-'));
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  rmSync(dataDir, { recursive: true });
});

/** What the command prints, line by line. */
async function run(...args: string[]) {
  const lines: string[] = [];
  const env = { DATA_DIR: dataDir, UPSTREAM_URL: 'http://localhost:1', UPSTREAM_API_KEY: 'key' };
  const code = await runTimetable(args, { env, print: (text) => lines.push(...text.split('\n')), now: () => NOW });
  return { code, lines };
}

/** A running service with this timetable and feed of buses; without trips, the feed has a problem. */
async function startService(
  planned: ReturnType<typeof timetableFrom>,
  trips: TripSpec[] | null,
  { mode = 'on' }: { mode?: RunningReport['mode'] } = {},
) {
  const spec = { timestamp: NOW / 1000, trips: trips ?? [] };
  const snapshots = trips ? [predict(planned, trips)] : [];
  const problem = trips ? null : 'an old header';
  const feeds = {
    request() {},
    untilRead: async () => {},
    snapshot: () => new LiveTimetable(planned, snapshots),
    problemOf: () => problem,
    publicationOf: () => feedOf(spec),
  } as const;
  const report = {
    pid: 4711,
    at: NOW,
    mode,
    isPolling: true,
    agreement: {},
    feeds: [
      {
        source: 'buses',
        problem,
        headerAt: NOW - 12_000,
        tripCount: 4501,
        foundShare: 0.9876,
        leftOut: { 'trip not in the timetable': { count: 1450, examples: ['77', '78'] } },
      },
    ],
  } satisfies RunningReport;
  const service = await openOperatorSocket(
    operatorFolder({ dataDir, isSandbox: false }),
    {
      '/feeds': async () => report,
      '/explain': async (query) => {
        const about = { stopId: query.get('stop') ?? '', route: query.get('route'), isArrival: query.has('arrivals') };
        return { report, board: await explainBoard(feeds, { ...about, now: () => NOW }) };
      },
    },
    createTestLog(),
  );
  closers.push(service.close);
}

/** The lines about one call, from the one that begins with this planned time. */
function linesOf({ lines }: { lines: string[] }, planned: string): string[] {
  const first = lines.findIndex((line) => line.startsWith(planned));
  const end = lines.findIndex((line, index) => index > first && !line.startsWith('    '));
  return lines.slice(first, end < 0 ? undefined : end).map((line) => line.trim().replace(/ +/g, ' '));
}

const block = { blockId: 'b' };
const PLANNED = timetableFrom([
  runOf('live', [
    ['A', -5],
    ['B', 10],
    ['C', 20],
  ]),
  runOf('silent', [
    ['B', 12],
    ['C', 22],
  ]),
  runOf('gone', [
    ['A', 1],
    ['B', 14],
    ['C', 16],
  ]),
  runOf('cancelled', [
    ['B', 16],
    ['C', 26],
  ]),
  runOf('short', [
    ['A', 15],
    ['B', 18],
    ['C', 28],
  ]),
  runOf(
    'early',
    [
      ['A', -20],
      ['B', 30],
      ['C', 40],
    ],
    block,
  ),
  runOf(
    'next',
    [
      ['C', 41],
      ['B', 45],
      ['D', 50],
    ],
    block,
  ),
]);
const TRIPS = [
  trip('live', [departs('A', { time: -3, delay: 120 })], { routeId: 'R' }),
  trip('gone', [update('C', { time: 3, delay: -780 })]),
  trip('cancelled', [], { scheduleRelationship: TRIP.canceled }),
  trip('short', [update('A', { delay: 0 }), skipped('C')]),
  trip('early', [update('B', { time: 35, delay: 300 }), update('C', { time: 44, delay: 240 })]),
];

describe('npm run timetable -- explain', () => {
  it('npm run timetable -- explain shows the run, the update, the rule and the feed behind each time', async () => {
    await startService(PLANNED, TRIPS);
    const explained = await run('explain', 'B');
    expect(explained.code).toBe(0);
    expect(explained.lines[0]).toBe('Departures of B (B), 08:55:00 to 10:00:00 in Sydney, now 09:00:00.');
    expect(explained.lines).toContain(
      'buses                      in use, header 12 s old, 4,501 trips, 98.7 % of them in the timetable',
    );
    expect(linesOf(explained, '09:10')).toEqual([
      '09:10:00 09:12:00 live R to City, B',
      'run live, day 20261127, call 2 of 3',
      'why planned time plus the delay at A, the last stop before with an update',
      'feed buses, header 09:00:00, trip update 1: trip live, route R, start date 20261127, SCHEDULED, 1 stop update',
      'update stop A, departure 08:57:00 delay 120 s',
    ]);
    expect(linesOf(explained, '09:30').slice(2)).toEqual([
      'why time of the feed for this stop',
      expect.stringContaining('trip update 5: trip early'),
      'update stop B, arrival 09:35:00 delay 300 s, departure 09:35:00 delay 300 s',
    ]);
    expect(linesOf(explained, '09:45').slice(0, 4)).toEqual([
      '09:45:00 09:48:00 live R to City, B',
      'run next, day 20261127, call 2 of 3',
      'why no update; its vehicle arrives late from its run before',
      'feed buses, header 09:00:00',
    ]);
  });

  it('npm run timetable -- explain shows why a call is not live, and why it is not on the board', async () => {
    await startService(PLANNED, TRIPS);
    const explained = await run('explain', 'B');
    expect(linesOf(explained, '09:12').slice(2)).toEqual(['why planned time; feed buses has no update of this run']);
    expect(linesOf(explained, '09:14')[0]).toMatch(/ DEPARTED /);
    expect(linesOf(explained, '09:14')[2]).toBe('why the vehicle has left: its feed begins at a later stop');
    expect(linesOf(explained, '09:16').slice(0, 3)).toEqual([
      '09:16:00 CANCELLED R to City, B',
      'run cancelled, day 20261127, call 1 of 2',
      'why the run is cancelled',
    ]);
    expect(linesOf(explained, '09:18')[2]).toBe('why the run ends here today');
  });

  it('npm run timetable -- explain shows why a feed is not used, and that a mode comes from the trip planner', async () => {
    await startService(PLANNED, null, { mode: 'auto' });
    const { lines } = await run('explain', 'B');
    expect(lines).toContain('NOT what callers see: boards of bus come from the trip planner now.');
    expect(linesOf({ lines }, '09:10')[2]).toBe('why planned time; feed buses is not used: an old header');
  });

  it('npm run timetable -- explain shows arrivals, and only a route, if asked, and JSON for scripts', async () => {
    await startService(PLANNED, TRIPS);
    expect(linesOf(await run('explain', 'C', '--arrivals'), '09:20')[0]).toBe('09:20:00 09:22:00 live R to City, C');
    expect((await run('explain', 'B', 'X9')).lines).toContain('nothing');
    const { lines } = await run('explain', 'B', 'r', '--json');
    const { calls } = JSON.parse(lines.join('\n'));
    expect(calls.find(({ tripId }: { tripId: string }) => tripId === 'live')).toMatchObject({
      rule: 'delay before',
      source: 'buses',
    });
  });

  it('npm run timetable -- explain names the platform to which a call has moved', async () => {
    const station = timetableFrom([
      runOf('R', [
        ['A', -5],
        ['S1', 8],
        ['B', 30],
      ]),
    ]);
    await startService(station, [trip('R', [update('S2', { time: 10, delay: 120 })])]);
    expect(linesOf(await run('explain', 'S'), '09:08')[0]).toBe('09:08:00 09:10:00 live R to City, S2, planned at S1');
  });

  it('npm run timetable -- explain says that no service runs, and which stop the timetable lacks', async () => {
    expect(await run('explain', 'B')).toEqual({
      code: 1,
      lines: [`No service runs on this machine with DATA_DIR ${dataDir}: its feeds are unknown.`],
    });
    await startService(PLANNED, TRIPS);
    expect(await run('explain', 'nowhere')).toMatchObject({
      code: 2,
      lines: [expect.stringContaining('no stop nowhere')],
    });
    expect((await run('explain')).code).toBe(2);
  });
});

describe('npm run timetable -- status', () => {
  it('npm run timetable -- status shows what is left out of the feeds of a running service, with examples', async () => {
    await startService(PLANNED, TRIPS);
    const { code, lines } = await run('status');
    expect(code).toBe(0);
    expect(lines).toContain('Feeds of the running service, process 4711:');
    expect(lines).toContain('    left out: 1,450 trip not in the timetable: 77, 78');
    const { feeds } = JSON.parse((await run('status', '--json')).lines.join('\n'));
    expect(feeds).toMatchObject([
      { feed: 'buses', left_out: { 'trip not in the timetable': { examples: ['77', '78'] } } },
    ]);
  });
  it('npm run timetable -- status says that no service runs', async () => {
    const { code, lines } = await run('status');
    expect([code, lines.at(-1)]).toEqual([0, expect.stringContaining('No service runs on this machine')]);
    expect(JSON.parse((await run('status', '--json')).lines.join('\n')).feeds).toBeNull();
  });
});
