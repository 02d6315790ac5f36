import { type BoardOrigin, createBoards, monitorBoards } from '#src/boards/boards.ts';
import { Comparison } from '#src/boards/comparison.ts';
import { Runs } from '#src/boards/runs.ts';
import { StopCalls } from '#src/boards/stop-calls.ts';
import { StopTimelines, type TimelineStore } from '#src/boards/stop-timelines.ts';
import { departuresOperation } from '#src/departures/operation.ts';
import type { Ask } from '#src/efa/ask.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { readFeed } from '#src/realtime/feed/feed-reader.ts';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { createFeedSharing, type FeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import type { FeedId, FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { feedResponse } from '#src/sandbox/feeds/feed.ts';
import { readNetwork } from '#src/sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#src/sandbox/network/network-index.ts';
import { startSandbox } from '#src/sandbox/server.ts';
import { ids } from '#test/support/ids.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';

const network = indexNetwork(readNetwork());

/** Each feed is read once, although every service polls it several times. */
const packed = new WeakMap<Buffer, ArrayBuffer>();
function packedOf(bytes: Buffer): ArrayBuffer {
  const read = packed.get(bytes) ?? readFeed(bytes);
  packed.set(bytes, read);
  return read;
}

/** The sandbox at a clock that stands still until it is moved. */
export async function startPlayedSandbox(start: string) {
  const clock = createSimulatedClock(start);
  const kept = new Map<string, Buffer>();
  const sandbox = await startSandbox({ apiKey: 'key', now: () => new Date(clock.now()) });
  const client = createEfaClient({
    url: sandbox.url,
    apiKey: 'key',
    timeoutMs: 5000,
    now: () => new Date(clock.now()),
  });
  return {
    clock,
    ask: client.ask,
    /** The authority's response to a poll: a new feed each minute, which is enough, because boards change with it. */
    feed(source: FeedId): Buffer {
      const minute = Math.floor(clock.now() / 60_000);
      const key = `${source} ${minute}`;
      const bytes = kept.get(key) ?? feedResponse(network, source, minute * 60);
      kept.set(key, bytes);
      return bytes;
    },
    async close() {
      await client.close();
      await sandbox.close();
    },
  };
}

export type PlayedSandbox = Awaited<ReturnType<typeof startPlayedSandbox>>;

/** One instance of the service in front of it, with feeds. */
export function createPlayedService(
  { clock, ask, feed }: PlayedSandbox,
  options: {
    mode?: 'shadow' | 'on';
    store?: TimelineStore;
    sharing?: FeedSharing;
  } = {},
) {
  const { mode = 'on', store = null } = options;
  const sharing = options.sharing ?? createFeedSharing(null, clock.now);
  const upstream = { ask: ask as Ask, fetch: async (source: FeedId) => feed(source) };
  const requests: object[] = [];
  const boardSources: string[] = [];
  const feeds = new LiveFeeds({
    client: { fetch: (source) => upstream.fetch(source) },
    reader: { read: async (bytes) => packedOf(bytes as Buffer) },
    sharing,
    clock,
    log: createTestLog(),
  });
  const comparison = new Comparison({ feeds, now: clock.now });
  const timelines = new StopTimelines(store);
  const record = ({ source, reason, feed: ofFeed }: BoardOrigin) =>
    void boardSources.push([source, reason, ofFeed].filter(Boolean).join(': '));
  const boards = createBoards({ mode, feeds, timelines, comparison, now: clock.now, record });
  const counted: Ask = async (request, more) => {
    requests.push(request);
    return upstream.ask(request, more);
  };
  const now = () => new Date(clock.now());
  const run = () => Promise.reject(new Error('not needed'));
  const calls = new StopCalls({ now: clock.now, feeds });
  const runs = new Runs({ now: clock.now, feeds });

  const parse = (query: Record<string, string>) => departuresOperation.query.parse(query);
  return {
    upstream,
    feeds,
    comparison,
    timelines,
    /** UpstreamRequests to the departure monitor so far. */
    requests,
    /** The source of each board. */
    boardSources,
    find: (query: Record<string, string>) =>
      departuresOperation.find(parse(query), { ask: counted, boards, calls, runs, now, ids, run }),
    /** The same board straight from the departure monitor. */
    monitor: (query: Record<string, string>) =>
      departuresOperation.find(parse(query), { ask, boards: monitorBoards, calls, runs, now, ids, run }),
    /** Lets so many callers ask for boards that need the feeds that each is worth its polls. */
    async crowd(sources: readonly FeedSourceId[]) {
      for (let window = 0; window < 2; window++) {
        for (let stop = 0; stop < 1000; stop++) feeds.note(`stop ${stop}`, sources);
        await clock.advance(15_000);
      }
    },
  };
}
