import type { Clock } from '#src/clock.ts';
import { departuresOperation } from '#src/departures/operation.ts';
import type { Ask, Priority } from '#src/efa/ask.ts';
import { createBoards } from '#src/live/boards/boards.ts';
import { Comparison } from '#src/live/boards/comparison.ts';
import { StopCalls } from '#src/live/boards/stop-calls.ts';
import { StopTimelines } from '#src/live/boards/stop-timelines.ts';
import { LiveFeeds } from '#src/live/live-feeds.ts';
import { noFeedSharing } from '#src/live/polling/feed-sharing.ts';
import { readQuery } from '#src/operation.ts';
import { createResponses } from '#src/responses/responses.ts';
import type { Freshness } from '#src/transit/freshness.ts';
import type { Protection } from '#src/upstream/protection.ts';
import { stopId } from './network.ts';
import type { TimetableAuthority } from './timetable-authority.ts';

/** Departures as the service finds them with `LIVE_FEEDS=on`. */
export interface LiveDepartures {
  find(stop: number, priority: Priority): Promise<{ freshness: Freshness; isLive: boolean; isShort: boolean }>;
  /** How many boards came from where, and why. */
  sources: Map<string, number>;
  close(): Promise<void>;
}

/** Longer than the simulation takes: it is real time that runs out. */
const DEADLINE_MS = 2 ** 31 - 1;
const silent = { info() {}, warn() {}, error() {}, debug() {} };

export function openLiveDepartures(parts: {
  ask: Ask;
  authority: TimetableAuthority;
  protection: Pick<Protection, 'callForFeed' | 'state'>;
  clock: Clock;
  /** One request in so many asks where the vehicles stop; none unless given. */
  callsEvery?: number | undefined;
}): LiveDepartures {
  const { ask, authority, protection, clock, callsEvery } = parts;
  let requests = 0;
  const { now } = clock;
  const sources = new Map<string, number>();
  const feeds = new LiveFeeds({
    client: { fetch: (source) => protection.callForFeed(() => authority.fetchFeed(source)) },
    reader: { read: authority.readFeed },
    sharing: noFeedSharing,
    stretch: () => protection.state().stretch,
    pollStretch: () => protection.state().pollStretch,
    clock,
    log: silent,
  });
  const boards = createBoards({
    mode: 'on',
    feeds,
    timelines: new StopTimelines(null),
    comparison: new Comparison({ feeds, now }),
    now,
    record: ({ source, reason, feed }) => {
      const name = [source, reason, feed].filter(Boolean).join(', ');
      sources.set(name, (sources.get(name) ?? 0) + 1);
    },
  });
  const responses = createResponses({
    ask,
    boards,
    calls: new StopCalls({ now, feeds }),
    now: () => new Date(now()),
    deadlineMs: DEADLINE_MS,
    log: silent,
  });

  return {
    sources,
    async find(stop, priority) {
      const withCalls = callsEvery !== undefined && ++requests % callsEvery === 0;
      const asked = { stop: stopId(stop), modes: 'all', ...(withCalls && { include: 'calls' }) };
      const query = readQuery(departuresOperation, asked);
      const { freshness, body } = await responses.find(departuresOperation, query, { priority });
      const { departures } = body.content();
      return { freshness, isLive: departures.some(({ is_live }) => is_live), isShort: departures.length < query.limit };
    },
    close: () => feeds.close(),
  };
}
