import { type Clock, sleep } from '#src/clock.ts';
import type { AskAuthority } from '#src/efa/ask.ts';
import { toRequest } from '#src/efa/request.ts';
import { readFeed } from '#src/realtime/feed/feed-reader.ts';
import { HEADER } from '#src/realtime/feed/packed-feed.ts';
import { type FeedId, isPositions, sourceOf } from '#src/realtime/polling/feed-source.ts';
import { FEEDS, feedResponse } from '#src/sandbox/feeds/feed.ts';
import { indexNetwork } from '#src/sandbox/network/network-index.ts';
import { departureResponse } from '#src/sandbox/responses/departure-response.ts';
import { tripResponse } from '#src/sandbox/responses/trip-response.ts';
import { receivedResponse } from '#test/support/received-response.ts';
import { recordsFor } from './network.ts';
import { createTimetabledNetwork } from './timetabled-network.ts';

/** An authority with timetables and feeds, on the simulated clock. */
export interface TimetableAuthority {
  ask: AskAuthority;
  /** Stands for the bytes of a feed; `readFeed` makes the packed form of it. */
  fetchFeed(source: FeedId): Promise<Buffer>;
  readFeed(bytes: Uint8Array): Promise<ArrayBuffer>;
  /** Moments of the calls, polls included. */
  calls: number[];
  polls: number[];
  /** The moments of those among them that poll positions. */
  positionPolls: number[];
}

const MINUTE_SECONDS = 60;
/** A feed's content is made anew so often, its timestamp at each poll: making the feeds takes most of the time. */
const CONTENT_SECONDS = 2 * MINUTE_SECONDS;

/**
 * The sandbox's authority over a network of so many stops, disturbances included. Places are empty, and so are journeys,
 * unless they are to be followed.
 */
export function createTimetableAuthority(
  clock: Clock,
  random: () => number,
  stops: number,
  { hasJourneys = false } = {},
): TimetableAuthority {
  const sandbox = indexNetwork(createTimetabledNetwork(stops));
  const contents = new Map<FeedId, { madeAt: number; packed: ArrayBuffer }>();
  const calls: number[] = [];
  const polls: number[] = [];
  const positionPolls: number[] = [];
  const seconds = () => Math.floor(clock.now() / 1000);

  const ask: AskAuthority = async (request) => {
    calls.push(clock.now());
    await sleep(clock, 150 + 450 * random());
    const retrievedAt = new Date(clock.now());
    const isBoard = request.kind === 'departureMonitor' && sandbox.stopById.has(request.stopId);
    if (!isBoard && !(request.kind === 'trip' && hasJourneys)) {
      return receivedResponse(request, recordsFor(request), retrievedAt);
    }
    const minute = seconds() - (seconds() % MINUTE_SECONDS);
    const respond = isBoard ? departureResponse : tripResponse;
    const response = respond(sandbox, new URLSearchParams(toRequest(request).query), minute);
    return receivedResponse(request, JSON.parse(JSON.stringify(response)), retrievedAt);
  };

  function packedFeed(source: FeedId): ArrayBuffer {
    const madeAt = seconds() - (seconds() % CONTENT_SECONDS);
    const known = contents.get(source);
    if (known?.madeAt === madeAt) return known.packed;
    const packed = readFeed(feedResponse(sandbox, source, madeAt));
    contents.set(source, { madeAt, packed });
    return packed;
  }

  return {
    ask,
    calls,
    polls,
    positionPolls,
    async fetchFeed(source) {
      calls.push(clock.now());
      polls.push(clock.now());
      if (isPositions(source)) positionPolls.push(clock.now());
      await sleep(clock, 150 + 450 * random());
      return Buffer.from(source);
    },
    async readFeed(bytes) {
      const source = Buffer.from(bytes).toString() as FeedId;
      const packed = packedFeed(source).slice(0);
      const { everySeconds } = FEEDS[sourceOf(source)];
      new Int32Array(packed, 0, Object.keys(HEADER).length)[HEADER.headerSeconds] =
        seconds() - (seconds() % everySeconds);
      return packed;
    },
  };
}
