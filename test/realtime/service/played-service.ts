import { setImmediate as nextTurn } from 'node:timers/promises';
import { feedResponse } from '#sandbox/feeds/feed.ts';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { startSandbox } from '#sandbox/server.ts';
import { Runs } from '#src/boards/runs.ts';
import { type BoardOrigin, createBoards, monitorBoards } from '#src/boards/source.ts';
import { BoardTrust } from '#src/boards/trust.ts';
import { createEfaClient } from '#src/efa/client.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import { noLines } from '#src/operations/sources.ts';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { createFeedSharing, type FeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import type { FeedId, FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { createInlineReader } from '#test/realtime/inline-reader.ts';
import { ids } from '#test/support/ids.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { importSandbox } from '#test/support/sandbox-timetable.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';

const network = indexNetwork(loadNetwork());

/** The sandbox with a clock that only tests move. */
export async function startPlayedSandbox(start: string) {
  const clock = createSimulatedClock(start);
  const kept = new Map<string, Buffer>();
  const sandbox = await startSandbox({ apiKey: 'key', now: () => new Date(clock.now()) });
  const client = createEfaClient({
    url: sandbox.url,
    apiKey: 'key',
    timeoutMs: 5000,
    now: () => clock.now(),
  });
  return {
    clock,
    callUpstream: client.callUpstream,
    /** Upstream's response to a poll. One feed a minute is enough, because boards change with it. */
    feed(source: FeedId): Buffer {
      const minute = Math.floor(clock.now() / 60_000);
      const key = `${source} ${minute}`;
      const bytes = kept.get(key) ?? feedResponse(network, source, minute * 60);
      kept.set(key, bytes);
      return bytes;
    },
    /** The timetable, imported now. */
    importTimetable: () => importSandbox(network, clock.now()),
    async close() {
      await client.close();
      await sandbox.close();
    },
  };
}

export type PlayedSandbox = Awaited<ReturnType<typeof startPlayedSandbox>>;

/** An instance of the service with feeds, in front of the sandbox. */
export function createPlayedService(
  { clock, callUpstream, feed }: PlayedSandbox,
  options: {
    mode?: BoardTrust['mode'];
    /** Without a timetable, boards come from the departure monitor. */
    timetable?: Timetable | null;
    sharing?: FeedSharing;
  } = {},
) {
  const { mode = 'on', timetable = null } = options;
  const sharing = options.sharing ?? createFeedSharing(null, clock.now);
  const upstream = { queryUpstream: callUpstream as QueryUpstream, fetch: async (source: FeedId) => feed(source) };
  const requests: object[] = [];
  const boardSources: string[] = [];
  const reader = createInlineReader();
  if (timetable) reader.use(timetable.packed);
  const feeds = new LiveFeeds({
    client: { fetch: (source) => upstream.fetch(source) },
    reader,
    timetable: () => timetable,
    sharing,
    clock,
    log: createTestLog(),
  });
  const trust = new BoardTrust({ mode, now: clock.now, log: createTestLog() });
  const record = ({ source, reason, feed: ofFeed }: BoardOrigin) =>
    void boardSources.push([source, reason, ofFeed].filter(Boolean).join(': '));
  const counted: QueryUpstream = async (request, more) => {
    requests.push(request);
    return upstream.queryUpstream(request, more);
  };
  const boards = createBoards({
    trust,
    timetable: { get: () => timetable },
    feeds,
    queryUpstream: counted,
    now: clock.now,
    record: ({ origin }) => record(origin),
  });
  const run = () => Promise.reject(new Error('no other operation is run'));
  const runs = new Runs({ now: clock.now, feeds });

  /** A board waits for the first poll of its feed, so the clock has to advance. */
  async function whilePolled<Result>(found: Promise<Result>): Promise<Result> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    found.then(done, done);
    for (let turn = 0; !isDone; turn++) {
      await nextTurn();
      if (turn > 50) await clock.advance(20);
    }
    return found;
  }

  const parse = (query: Record<string, string>) => departuresOperation.query.parse(query);
  return {
    upstream,
    feeds,
    trust,
    /** Requests to the departure monitor so far. */
    requests,
    /** The source of each board. */
    boardSources,
    find: (query: Record<string, string>) =>
      whilePolled(
        departuresOperation.handle(parse(query), {
          queryUpstream: counted,
          boards,
          runs,
          lines: noLines,
          now: clock.now,
          ids,
          run,
        }),
      ),
    /** The same board directly from the departure monitor. */
    monitor: (query: Record<string, string>) =>
      departuresOperation.handle(parse(query), {
        queryUpstream: callUpstream,
        boards: monitorBoards,
        runs,
        lines: noLines,
        now: clock.now,
        ids,
        run,
      }),
    async poll(sources: readonly FeedSourceId[]) {
      for (let poll = 0; poll < 2; poll++) {
        feeds.request(sources);
        await clock.advance(15_000);
      }
    },
  };
}
