import { Runs } from '#src/boards/runs.ts';
import { createBoards, monitorBoards } from '#src/boards/source.ts';
import { BoardTrust } from '#src/boards/trust.ts';
import type { CallUpstream, QueryUpstream } from '#src/efa/query-upstream.ts';
import { toRequest } from '#src/efa/request.ts';
import { arrivalsOperation, departuresOperation } from '#src/operations/departures/operation.ts';
import { runOperation } from '#src/operations/more/runs/operation.ts';
import { readQuery } from '#src/operations/operation.ts';
import { Feed } from '#src/realtime/feed/feed.ts';
import { readFeed } from '#src/realtime/feed/feed-reader.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { FEED_SOURCES, type FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import { feedResponse } from '#src/sandbox/feeds/feed.ts';
import { readNetwork } from '#src/sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#src/sandbox/network/network-index.ts';
import { departureResponse } from '#src/sandbox/responses/departure-response.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { ids } from '#test/support/ids.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { receivedResponse } from '#test/support/received-response.ts';
import { importSandbox } from '#test/support/sandbox-timetable.ts';

const SOURCES = Object.keys(FEED_SOURCES) as FeedSourceId[];
export const network = indexNetwork(readNetwork());

/** Boards of the sandbox from its timetable and from its departure monitor at the same time. Tests move the clock. */
export async function openSandboxBoards(start: string, { mode = 'on' as BoardTrust['mode'] } = {}) {
  let moment = Date.parse(start);
  const now = () => moment;
  const timetable: Timetable = await importSandbox(network, moment);
  const state = {
    isUpstreamAway: null as Error | null,
    /** The age of upstream's responses, as if they came from a cache. */
    responseAgeMs: 0,
    away: new Set<FeedSourceId>(),
    timetable: timetable as Timetable | null,
  };
  const sent: { stopId?: string; priority?: string | undefined }[] = [];
  const origins: string[] = [];
  const answer: CallUpstream = async (request, options) => {
    sent.push({ ...request, priority: options?.priority });
    if (state.isUpstreamAway) throw state.isUpstreamAway;
    const seconds = Math.floor(moment / 60_000) * 60;
    const response = departureResponse(network, new URLSearchParams(toRequest(request).query), seconds);
    return receivedResponse(request, JSON.parse(JSON.stringify(response)), new Date(moment - state.responseAgeMs));
  };
  const read = new Map<FeedSourceId, Snapshot>();
  const needed = new Set<FeedSourceId>();
  const headers = new Map<FeedSourceId, number>();
  let planned = createPlannedRuns(timetable);
  const snapshotOf = (source: FeedSourceId, of: Timetable) => {
    if (planned.timetable !== of) {
      planned = createPlannedRuns(of);
      read.clear();
    }
    const feed = new Feed(readFeed(feedResponse(network, source, moment / 1000)));
    const snapshot = read.get(source) ?? new Snapshot(predictFeed(planned, { source, feed }));
    read.set(source, snapshot);
    headers.set(source, snapshot.headerAt);
    return snapshot;
  };
  const takeFor = (of: Timetable) =>
    new LiveTimetable(
      of,
      SOURCES.flatMap((source) => (needed.has(source) && !state.away.has(source) ? snapshotOf(source, of) : [])),
    );
  const feeds = {
    need: (sources: Iterable<FeedSourceId>) => {
      for (const source of sources) needed.add(source);
    },
    untilRead: async () => {},
    takeFor,
    take: () => state.timetable && takeFor(state.timetable),
    problemOf: (source: string) => (state.away.has(source as FeedSourceId) ? ('no response' as const) : null),
    freshUntil: () => moment + 15_000,
    list: () =>
      SOURCES.map((source) => ({
        source,
        problem: null,
        headerAt: headers.get(source) ?? null,
        tripCount: null,
        foundShare: null,
        leftOut: {},
      })),
  };
  const log = createTestLog();
  const trust = new BoardTrust({ mode, now, log });
  const boards = createBoards({
    trust,
    timetable: { get: () => state.timetable },
    feeds,
    queryUpstream: answer as QueryUpstream,
    now,
    record: ({ origin: { source, reason } }) => origins.push([source, reason].filter(Boolean).join(': ')),
  });
  const run = () => Promise.reject(new Error('no other operation is run'));
  const ofRuns = { now, feeds, timetable: { get: () => state.timetable } };
  const runs = new Runs(ofRuns);
  const context = { queryUpstream: answer as QueryUpstream, boards, runs, now: () => new Date(moment), ids, run };
  const direct = { ...context, boards: monitorBoards, runs: new Runs({ ...ofRuns, isTrusted: () => false }) };
  const departures = (query: Record<string, string>, from = context) =>
    departuresOperation.find(readQuery(departuresOperation, query), from);
  const arrivals = (query: Record<string, string>, from = context) =>
    arrivalsOperation.find(readQuery(arrivalsOperation, query), from);
  const runOf = (query: Record<string, string>, from = context) =>
    runOperation.find(readQuery(runOperation, query), from);
  return {
    now,
    advanceTo(next: string | number) {
      moment = typeof next === 'string' ? Date.parse(next) : next;
      read.clear();
    },
    timetable,
    state,
    trust,
    log,
    boards,
    sent,
    origins,
    departures: (query: Record<string, string>) => departures(query),
    arrivals: (query: Record<string, string>) => arrivals(query),
    run: (query: Record<string, string>) => runOf(query),
    monitor: {
      run: (query: Record<string, string>) => runOf(query, direct),
      departures: (query: Record<string, string>) => departures(query, direct),
      arrivals: (query: Record<string, string>) => arrivals(query, direct),
    },
  };
}

export type SandboxBoards = Awaited<ReturnType<typeof openSandboxBoards>>;
