import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { departureResponse } from '#sandbox/responses/departure-response.ts';
import { Runs } from '#src/boards/runs.ts';
import { createBoards, monitorBoards } from '#src/boards/source.ts';
import { BoardTrust } from '#src/boards/trust.ts';
import type { CallUpstream, QueryUpstream } from '#src/efa/query-upstream.ts';
import { toRequest } from '#src/efa/request.ts';
import { arrivalsOperation, departuresOperation } from '#src/operations/departures/operation.ts';
import { parseQuery } from '#src/operations/operation.ts';
import { runOperation } from '#src/operations/runs/operation.ts';
import { noLines } from '#src/operations/sources.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { ids } from '#test/support/ids.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { receivedResponse } from '#test/support/received-response.ts';
import { createSandboxFeeds } from '#test/support/sandbox-feeds.ts';
import { importSandbox } from '#test/support/sandbox-timetable.ts';

export const network = indexNetwork(loadNetwork());

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
  const needed = new Set<FeedSourceId>();
  const feeds = {
    ...createSandboxFeeds(network, {
      now,
      timetable: () => state.timetable,
      isUsed: (source) => needed.has(source) && !state.away.has(source),
    }),
    request(sources: Iterable<FeedSourceId>) {
      for (const source of sources) needed.add(source);
    },
    problemOf: (source: string) => (state.away.has(source as FeedSourceId) ? ('no response' as const) : null),
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
  const context = {
    queryUpstream: answer as QueryUpstream,
    boards,
    runs,
    lines: noLines,
    now,
    ids,
    run,
  };
  const direct = { ...context, boards: monitorBoards, runs: new Runs({ ...ofRuns, isTrusted: () => false }) };
  const departures = (query: Record<string, string>, from = context) =>
    departuresOperation.handle(parseQuery(departuresOperation, query), from);
  const arrivals = (query: Record<string, string>, from = context) =>
    arrivalsOperation.handle(parseQuery(arrivalsOperation, query), from);
  const runOf = (query: Record<string, string>, from = context) =>
    runOperation.handle(parseQuery(runOperation, query), from);
  return {
    now,
    advanceTo(next: string | number) {
      moment = typeof next === 'string' ? Date.parse(next) : next;
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
