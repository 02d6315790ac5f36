import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FEEDS, feedResponse } from '#sandbox/feeds/feed.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { departureResponse } from '#sandbox/responses/departure-response.ts';
import { createSchedule, isSchedule } from '#sandbox/schedule/schedule.ts';
import { AlertList } from '#src/alerts/alert-list.ts';
import { createBoards } from '#src/boards/source.ts';
import { BoardTrust } from '#src/boards/trust.ts';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, sleep } from '#src/core/clock.ts';
import type { CallUpstream } from '#src/efa/query-upstream.ts';
import { toRequest } from '#src/efa/request.ts';
import { chooseJourneys, type FoundJourneys, type Journeys } from '#src/journeys/source.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import { HEADER } from '#src/realtime/feed/packed-feed.ts';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import { FEED_SOURCES, type FeedId, type FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { loadBuiltIn } from '#src/stops/file.ts';
import { StopRegister } from '#src/stops/register.ts';
import { Suburbs, sweepSuburbs } from '#src/stops/suburbs.ts';
import { TimetableBuilder } from '#src/timetable/import/builder.ts';
import { loadScheduleFile } from '#src/timetable/import/read-file.ts';
import { FILE_IDS, SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { noTimetable } from '#src/timetable/update/keep-current.ts';
import type { protectUpstream } from '#src/upstream/protection.ts';
import { createReader } from '#test/realtime/reader.ts';
import { receivedResponse } from '#test/support/received-response.ts';
import { recordsFor } from './network.ts';
import { createTimetabledNetwork } from './timetabled-network.ts';

/** Feeds get new trips this often and a new header at each poll, because building trips takes most of the simulation. */
const CONTENT_SECONDS = 600;
/** A feed is available this long after its header's time. */
const LATE_SECONDS = 3;
/** The network has lines for these feeds only. Each other feed publishes the trips of one of these. */
const WITH_LINES: readonly FeedId[] = [
  'sydneytrains',
  'metro',
  'innerwest',
  'cbdandsoutheast',
  'buses',
  'sydneyferries',
];
/** At 02:30 in Sydney. */
const NIGHTLY_UPDATE_AT_MS = 16.5 * HOUR_MS;
const silent = { info() {}, warn() {}, error() {} };

/** The sandbox's boards, schedule and feeds for `stops` stops, on the simulated clock. Its journeys and notices are empty. */
export function createLiveUpstream(
  clock: Clock,
  random: () => number,
  { stops, headerSeconds }: { stops: number; headerSeconds: number | null },
) {
  const sandbox = indexNetwork(createTimetabledNetwork(stops));
  const contents = new Map<FeedId, { madeAt: number; packed: ArrayBuffer }>();
  const calls: number[] = [];
  const polls: number[] = [];
  const seconds = () => Math.floor(clock.now() / 1000);

  const answer = async () => {
    calls.push(clock.now());
    await sleep(clock, 150 + 450 * random());
  };

  const callUpstream: CallUpstream = async (request) => {
    await answer();
    const isBoard =
      request.kind === 'departureMonitor' &&
      (sandbox.stopById.has(request.stopId) || sandbox.pointById.has(request.stopId));
    const query = new URLSearchParams(toRequest(request).query);
    const response = isBoard ? departureResponse(sandbox, query, seconds()) : recordsFor(request);
    return receivedResponse(request, JSON.parse(JSON.stringify(response)), new Date(clock.now()));
  };

  function contentOf(source: FeedSourceId): ArrayBuffer {
    const madeAt = seconds() - (seconds() % CONTENT_SECONDS);
    const known = contents.get(source);
    if (known?.madeAt === madeAt) return known.packed;
    const packed = parseFeed(feedResponse(sandbox, WITH_LINES.includes(source) ? source : 'innerwest', madeAt));
    contents.set(source, { madeAt, packed });
    return packed;
  }

  return {
    callUpstream,
    calls,
    polls,
    fetchFile: answer,
    /** A stand-in for the bytes of a feed, which `readFeed` has in their packed form. */
    async fetchFeed(source: FeedId): Promise<Buffer> {
      polls.push(clock.now());
      await answer();
      return Buffer.from(source);
    },
    readFeed(source: FeedSourceId): ArrayBuffer {
      const packed = contentOf(source).slice(0);
      const everySeconds = headerSeconds ?? FEEDS[source].everySeconds;
      const headers = new Int32Array(packed, 0, HEADER.headerSeconds + 1);
      const late = seconds() - LATE_SECONDS;
      // Upstream's feed of this ferry has been frozen since July 2026.
      headers[HEADER.headerSeconds] = source === 'MFF' ? 0 : late - (late % everySeconds);
      return packed;
    },
    /** The timetable currently published. */
    async importSchedule(): Promise<Timetable> {
      const publish = createSchedule(sandbox);
      const folder = mkdtempSync(join(tmpdir(), 'transit-economy-'));
      const builder = new TimetableBuilder();
      for (const id of FILE_IDS.filter((file) => isSchedule(SCHEDULE_FILES[file].path))) {
        const path = join(folder, 'file.zip');
        writeFileSync(path, (await publish(SCHEDULE_FILES[id].path, seconds())).zip);
        // Files without lines are unreadable.
        await loadScheduleFile(path, id).then(
          (file) => builder.add(file),
          () => {},
        );
      }
      rmSync(folder, { recursive: true });
      return new Timetable(builder.finish({ importedAt: clock.now() }));
    },
  };
}

/**
 * The parts of the service with a timetable and feeds, as started with TIMETABLE=auto. Every feed is always needed. Timetable
 * journeys are a stub: they take no upstream call, so none is planned.
 */
export async function openLive(
  madeUpUpstream: ReturnType<typeof createLiveUpstream>,
  protection: Pick<ReturnType<typeof protectUpstream>, 'queryUpstream' | 'callForFeed' | 'state'>,
  { clock, journeys: mode }: { clock: Clock; journeys: 'planner' | 'auto' },
) {
  const { now } = clock;
  const { queryUpstream, callForFeed } = protection;
  const timetable = await madeUpUpstream.importSchedule();
  const current = { ...noTimetable, get: () => timetable };
  const dataDir = mkdtempSync(join(tmpdir(), 'transit-economy-'));
  const suburbs = new Suburbs(dataDir, silent);
  const stops = new StopRegister(loadBuiltIn, { timetable: current, planner: suburbs });
  const alerts = new AlertList({ now, stops, queryUpstream });
  const reader = createReader(timetable);
  const feeds = new LiveFeeds({
    client: { fetch: (source) => callForFeed(() => madeUpUpstream.fetchFeed(source)) },
    reader: { ...reader, parse: (source) => reader.open(source, madeUpUpstream.readFeed(source as FeedSourceId)) },
    sharing: createFeedSharing(null, now),
    timetable: () => timetable,
    clock,
    log: silent,
  });
  const trust = new BoardTrust({ mode: 'auto', now, log: silent });
  const origins = new Map<string, number>();
  const count = ({ source, reason, feed }: { source: string; reason?: string; feed?: string }) => {
    const name = [source, reason, feed].filter(Boolean).join(', ');
    origins.set(name, (origins.get(name) ?? 0) + 1);
  };
  const made = createBoards({ trust, timetable: current, feeds, listAlerts: alerts.alertsOf, queryUpstream, now });
  const boards: typeof made = {
    ...made,
    async fetch(request) {
      const board = await made.fetch(request);
      count(board.origin);
      return board;
    },
  };

  const byTimetable = { covers: () => true, lastDay: () => null, fetch: async () => foundAt(now(), 'timetable') };
  const planner: Journeys = {
    async fetch({ from, to, at, isArrival }, { queryUpstream }) {
      const { freshness } = await queryUpstream({ kind: 'trip', from, to, at, isArrival });
      return { ...foundAt(now(), 'planner'), ...(freshness && { freshness }) };
    },
  };
  const isScarce = () => protection.state().shortage !== null;
  const journeys =
    mode === 'planner' ? planner : chooseJourneys({ mode, planner, timetable: byTimetable, isScarce, clock });

  const needAll = () => {
    feeds.request(Object.keys(FEED_SOURCES) as FeedSourceId[]);
    cancel = clock.after(MINUTE_MS, needAll);
  };
  let cancel = clock.after(0, needAll);
  const endSweep = sweepSuburbs(suburbs, { stops, queryUpstream, clock, log: silent });
  // A HEAD and a GET for each file.
  const download = () => callForFeed(madeUpUpstream.fetchFile).catch(() => {});
  for (let file = 0; file < 2 * FILE_IDS.length; file++) {
    clock.after(NIGHTLY_UPDATE_AT_MS - (now() % DAY_MS) + file * 2000, () => void download());
  }
  return {
    boards,
    stops,
    alerts,
    journeys,
    origins,
    async close() {
      cancel();
      endSweep();
      await feeds.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

function foundAt(moment: number, source: 'timetable' | 'planner'): FoundJourneys {
  const freshness = {
    retrievedAt: moment,
    freshUntil: moment,
    staleUntil: moment,
    source: 'cache',
    shortage: null,
  } as const;
  return { journeys: [], leftOut: {}, freshness, origin: { source } };
}
