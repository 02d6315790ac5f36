import { AlertList } from '#src/alerts/alert-list.ts';
import { createBoards } from '#src/boards/boards.ts';
import { Comparison } from '#src/boards/comparison.ts';
import { StopCalls } from '#src/boards/stop-calls.ts';
import { StopTimelines } from '#src/boards/stop-timelines.ts';
import { type Clock, sleep } from '#src/clock.ts';
import { departuresOperation } from '#src/departures/operation.ts';
import type { Ask, Priority } from '#src/efa/ask.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { readQuery } from '#src/operation.ts';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import { isPositions } from '#src/realtime/polling/feed-source.ts';
import { Vehicles } from '#src/realtime/vehicles.ts';
import { createResponses } from '#src/responses/responses.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import type { Freshness } from '#src/transit/freshness.ts';
import { MODES } from '#src/transit/mode.ts';
import { isWithin } from '#src/transit/place.ts';
import { createFollowOperation } from '#src/trips/follow.ts';
import { createTripsOperation } from '#src/trips/operation.ts';
import type { protectUpstream } from '#src/upstream/protection.ts';
import { ids } from '#test/support/ids.ts';
import { stopId } from './network.ts';
import type { TimetableAuthority } from './timetable-authority.ts';

/** Departures as the service finds them with `LIVE_FEEDS=on`. */
export interface LiveDepartures {
  find(stop: number, priority: Priority): Promise<{ freshness: Freshness; isLive: boolean; isShort: boolean }>;
  /** How many boards came from where, and why. */
  sources: Map<string, number>;
  /** How many vehicles each look at the map found; null where positions could not be had. */
  looks: (number | null)[];
  /** Plans a journey and follows it to its end, once a minute. */
  follow(from: number, to: number, priority: Priority): Promise<void>;
  /** How many journeys were followed, how often they were looked at, and how often that was refused. */
  followed: { journeys: number; looks: number; refused: number };
  close(): Promise<void>;
}

/** Longer than the simulation takes: it is real time that runs out. */
const DEADLINE_MS = 2 ** 31 - 1;
/** A page asks for the vehicles of its map so often. */
const LOOK_EVERY_MS = 15_000;
/** A stream of a journey is charged so often. */
const FOLLOW_EVERY_MS = 60_000;
const MAP = { south: -34.1, west: 150.9, north: -33.7, east: 151.3 };
const silent = { info() {}, warn() {}, error() {}, debug() {} };

export function openLiveDepartures(parts: {
  ask: Ask;
  authority: TimetableAuthority;
  protection: Pick<ReturnType<typeof protectUpstream>, 'callForFeed' | 'state'>;
  clock: Clock;
  /** One request in so many asks where the vehicles stop; none unless given. */
  callsEvery?: number | undefined;
  /** Whether somebody looks at the vehicles of a map all the time. */
  hasMap?: boolean;
}): LiveDepartures {
  const { ask, authority, protection, clock, callsEvery, hasMap = false } = parts;
  let requests = 0;
  const { now } = clock;
  const sources = new Map<string, number>();
  const feeds = new LiveFeeds({
    client: {
      fetch: (source) =>
        protection.callForFeed(() => authority.fetchFeed(source), isPositions(source) ? 'positions' : 'feed'),
    },
    reader: { read: authority.readFeed },
    sharing: createFeedSharing(null, clock.now),
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
  const vehicles = new Vehicles({ now, feeds });
  const looks: (number | null)[] = [];
  let stopLooking = hasMap ? clock.after(LOOK_EVERY_MS, look) : () => {};

  function look(): void {
    const found = vehicles.find(MODES, { bounds: MAP, isAt: (lat, lng) => isWithin(MAP, lat, lng) });
    void found.then(({ vehicles: shown, freshness }) => looks.push(freshness && shown.length));
    stopLooking = clock.after(LOOK_EVERY_MS, look);
  }

  const followed = { journeys: 0, looks: 0, refused: 0 };
  const stops = new StopRegister(noStops);
  const trips = createTripsOperation({ stops });
  const alerts = new AlertList({ now, stops });
  const journey = createFollowOperation({ stops, listAlerts: async (from) => (await alerts.read(from)).alerts });

  const responses = createResponses({
    ask,
    ids,
    boards,
    calls: new StopCalls({ now, feeds }),
    now: () => new Date(now()),
    deadlineMs: DEADLINE_MS,
    log: silent,
  });

  return {
    sources,
    looks,
    async find(stop, priority) {
      const withCalls = callsEvery !== undefined && ++requests % callsEvery === 0;
      const asked = { stop: stopId(stop), modes: 'all', ...(withCalls && { include: 'calls' }) };
      const query = readQuery(departuresOperation, asked);
      const { freshness, body } = await responses.find(departuresOperation, query, { priority });
      const { departures } = body.content();
      return { freshness, isLive: departures.some(({ is_live }) => is_live), isShort: departures.length < query.limit };
    },
    followed,
    async follow(from, to, priority) {
      const asked = { from: stopId(from), to: stopId(to), include: 'ids', path: 'none' };
      const plan = await responses.find(trips, readQuery(trips, asked), { priority });
      const id = plan.body.content().journeys.find(({ journey_id }) => journey_id)?.journey_id;
      if (!id) return;
      followed.journeys++;
      for (let isOver = false; !isOver; await sleep(clock, FOLLOW_EVERY_MS)) {
        try {
          await responses.find(journey, readQuery(journey, { journey_id: id }), { priority });
          followed.looks++;
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          isOver = error.statusCode < 500;
          if (!isOver) followed.refused++;
        }
      }
    },
    close() {
      stopLooking();
      return feeds.close();
    },
  };
}
