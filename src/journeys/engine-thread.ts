import { parentPort } from 'node:worker_threads';
import { SECOND_MS } from '../core/clock.ts';
import { Feed } from '../realtime/feed/feed.ts';
import { FEED_HORIZON_MS } from '../realtime/join.ts';
import { FEED_SOURCES, type FeedSourceId } from '../realtime/polling/feed-source.ts';
import { calendarDayAt, serviceDayStart } from '../timetable/service-day.ts';
import { Timetable } from '../timetable/timetable.ts';
import type { RunCall } from '../transit/call.ts';
import type { Position } from '../transit/place.ts';
import { findShore, type MultiPolygon, mergeCircles } from './area.ts';
import { type LiveRun, listLiveCalls, readLiveRuns, toChangedRun } from './changes.ts';
import { type ChangedRun, createLines, withChanges } from './day-lines.ts';
import { createFootpaths, REACH_METRES, walkMetres } from './footpaths.ts';
import { createLabels, NEVER } from './raptor/labels.ts';
import { callAt, type Footpaths, type Lines, lastPosition } from './raptor/lines.ts';
import {
  CHANGE_IS_WORTH_SECONDS,
  createPlanner,
  type Plan,
  type PlanRequest,
  type WheelchairAccess,
  walkOnly,
} from './raptor/plan.ts';
import type { Walk } from './raptor/query.ts';
import { byStation, type LastRide, listReached, type Reached, readLastRide } from './reached.ts';
import { keepUndominated, planVia, type ViaPart, type Waypoint } from './via.ts';
import { chooseChanges, walkBetween } from './where-to-change.ts';

/*
 * The program of the threads that plan journeys (see engine.ts).
 */

/**
 * Stops at which a journey may begin or end, with the walk to each in seconds. `withAround` adds the stops within walking
 * distance of them.
 */
export interface EngineEnd {
  stops: readonly Walk[];
  withAround: boolean;
}

/** Moments are in milliseconds since 1970. */
export interface EngineQuery
  extends Pick<PlanRequest, 'isArrival' | 'walkSeconds' | 'modes' | 'isWheelchair' | 'maxRides' | 'most'> {
  from: EngineEnd;
  to: EngineEnd;
  at: number;
  now: number;
  /** A wheelchair user boards and alights here only if there are no other journeys. */
  avoidedStops: readonly number[];
}

/** A search for the stops that are reached from one place until a moment. */
export interface EngineReachQuery
  extends Pick<EngineQuery, 'from' | 'at' | 'now' | 'modes' | 'isWheelchair' | 'maxRides' | 'most'> {
  until: number;
  /** The stops that are reached on foot from the origin. */
  walks: readonly Walk[];
  /** Stations that are not listed: those of the origin. */
  without: readonly number[];
  /** The position of the origin if the area is requested instead of the stops. */
  areaAround: Position | null;
}

export interface EngineReach {
  /** The stations, the earliest arrival first; at most as many as requested. Moments are in milliseconds since 1970. */
  stations: (Pick<Reached, 'stop' | 'arrivesAt' | 'rides'> & { ride: LastRide | null })[];
  /** The number of all stations reached. */
  total: number;
  area: MultiPolygon | null;
}

/** A search for the first arrival at each destination. */
export interface EngineTimesQuery
  extends Pick<EngineQuery, 'from' | 'at' | 'now' | 'modes' | 'isWheelchair' | 'maxRides'> {
  to: readonly Pick<EngineQuery, 'to' | 'walkSeconds'>[];
}

/** A search for journeys past some places, in order. */
export interface EngineViaQuery
  extends Pick<EngineQuery, 'at' | 'now' | 'modes' | 'isWheelchair' | 'maxRides' | 'most'> {
  /** The origin, the places on the way and the destination. */
  ends: readonly (EngineEnd & Pick<Waypoint, 'staySeconds' | 'walkSeconds'>)[];
}

/** A part of a journey, between two of the ends by their indices. The walk to the next part is that of its last ride. */
export interface EngineViaPart {
  from: number;
  to: number;
  journey: EngineJourney;
}

/** A part of a ride in one run, from one call to another. */
export interface EnginePart {
  trip: number;
  day: number;
  first: number;
  last: number;
  /** All calls of a run that a feed has changed; null if it runs as planned. */
  live: { added: Omit<NonNullable<LiveRun['added']>, 'calls'> | null; asOf: number; calls: RunCall[] } | null;
}

export interface EngineRide {
  /** More than one if the vehicle continues as another run. */
  parts: EnginePart[];
  /** The walk to the next ride, in seconds. */
  walkSeconds: number;
}

export interface EngineJourney {
  departsAt: number;
  arrivesAt: number;
  access: Walk;
  egress: Walk;
  rides: EngineRide[];
}

export type EngineMessage =
  | { kind: 'timetable'; packed: SharedArrayBuffer; now: number }
  | { kind: 'feed'; source: FeedSourceId; packed: ArrayBuffer | null }
  | { kind: 'search'; id: number; name: SearchName; query: SearchQuery<SearchName> };

/** The searches of an engine. */
interface Searches {
  plan(query: EngineQuery): EngineJourney[];
  reach(query: EngineReachQuery): EngineReach;
  times(query: EngineTimesQuery): (EngineJourney | null)[];
  via(query: EngineViaQuery): EngineViaPart[][];
}
export type SearchName = keyof Searches;
export type SearchQuery<Name extends SearchName> = Parameters<Searches[Name]>[0];
export type SearchResult<Name extends SearchName> = ReturnType<Searches[Name]>;

export type EngineReply = { id: number } & ({ found: SearchResult<SearchName> } | { problem: string });

const CHANGE_SECONDS = 120;
const MAX_DAYS = 2;
const HOUR_SECONDS = 3600;
/** Most destinations are reached within the first of these times, which makes their search cheap. */
const HORIZON_HOURS = [2, 6, 24] as const;
/** Feeds cause new lines at most this often. */
const CHANGES_EVERY_MS = 5 * SECOND_MS;

interface Day {
  day: number;
  lines: Lines;
  /** `planned` searches the timetable alone, `live` the timetable with changes from the feeds. */
  planned: Planner | null;
  live: (Planner & { version: number; madeAt: number }) | null;
}

interface Planner extends ReturnType<typeof createPlanner> {
  lines: Lines;
  /** The changed runs at the end of the lines. */
  runs: readonly LiveRun[];
}

/** Returns the search over one timetable. */
export function openEngine(packed: SharedArrayBuffer) {
  const timetable = new Timetable(packed);
  const { sections, stopCount } = timetable;
  const { visitStart, stopFlags, stopParent, tripFlags } = sections;
  const footpaths: Footpaths = createFootpaths(
    sections,
    (stop) => (visitStart[stop + 1] as number) > (visitStart[stop] as number),
  );
  const labels = [createLabels(stopCount), createLabels(stopCount)] as const;
  const own = (stop: number) => (stopFlags[stop] as number) & 3;
  const access: WheelchairAccess = {
    trips: Uint8Array.from(tripFlags, (flags) => ((flags & 3) === 2 ? 0 : 1)),
    stops: Uint8Array.from({ length: stopCount }, (_, stop) => {
      const parent = stopParent[stop] as number;
      return (own(stop) || (parent >= 0 ? own(parent) : 0)) === 2 ? 0 : 1;
    }),
  };
  const feeds = new Map<FeedSourceId, { version: number; runs: LiveRun[] }>();
  /** Where there is water around stops; found when an area is first drawn there. */
  const shores = new Map<number, Float32Array | null>();
  let days: Day[] = [];
  let version = 0;

  function openDay(day: number): Day {
    const known = days.find((one) => one.day === day);
    const base = serviceDayStart(day) / SECOND_MS;
    const opened = known ?? {
      day,
      lines: createLines(sections, {
        day,
        dayStarts: [serviceDayStart(day - 1) / SECOND_MS - base, 0, serviceDayStart(day + 1) / SECOND_MS - base],
        isRunning: (trip, on) => timetable.runsOn(trip, on),
        nextTrip: (trip, on) => timetable.nextTrip(trip, on),
      }),
      planned: null,
      live: null,
    };
    days = [opened, ...days.filter((one) => one !== opened)].slice(0, MAX_DAYS);
    return opened;
  }

  function plannerOf(opened: Day, isLive: boolean, now: number): Planner {
    if (!isLive || version === 0) {
      opened.planned ??= {
        lines: opened.lines,
        runs: [],
        ...createPlanner(opened.lines, footpaths, access, labels),
      };
      return opened.planned;
    }
    const { live } = opened;
    if (live && (live.version === version || now - live.madeAt < CHANGES_EVERY_MS)) return live;
    const runs: { run: LiveRun; changed: ChangedRun }[] = [];
    const dropped: { trip: number; day: number }[] = [];
    for (const run of [...feeds.values()].flatMap((feed) => feed.runs)) {
      if (!run.columns) dropped.push({ trip: run.trip, day: run.day - opened.day });
      const changed = toChangedRun(timetable, run, opened.day);
      if (changed) runs.push({ run, changed });
    }
    const lines = withChanges(
      opened.lines,
      runs.map(({ changed }) => changed),
      dropped.filter(({ day }) => Math.abs(day) <= 1),
    );
    const planner = createPlanner(lines, footpaths, access, labels);
    opened.live = { ...planner, lines, version, madeAt: now, runs: runs.map(({ run }) => run) };
    return opened.live;
  }

  function findWalks({ stops, withAround }: EngineEnd): Walk[] {
    const least = new Map<number, number>();
    const note = (stop: number, seconds: number) => least.set(stop, Math.min(seconds, least.get(stop) ?? seconds));
    for (const { stop, seconds } of stops) {
      note(stop, seconds);
      const { first, targets, seconds: ways } = footpaths;
      for (let at = first[stop] as number; withAround && at < (first[stop + 1] as number); at++) {
        note(targets[at] as number, seconds + (ways[at] as number));
      }
    }
    return [...least].map(([stop, seconds]) => ({ stop, seconds }));
  }

  /** The planner of a day, and the request in seconds since its beginning. */
  function begin({ at, now }: Pick<EngineQuery, 'at' | 'now'>) {
    const day = calendarDayAt(at);
    const base = serviceDayStart(day);
    const planner = plannerOf(openDay(day), at < now + FEED_HORIZON_MS, now);
    const secondsAt = (moment: number) => Math.floor((moment - base) / SECOND_MS);
    return { day, base, planner, secondsAt };
  }

  function plan({ avoidedStops, ...query }: EngineQuery): EngineJourney[] {
    if (!query.isWheelchair || avoidedStops.length === 0) return planWith(access.stops, query);
    const avoided = new Set(avoidedStops);
    const others = access.stops.map((usable, stop) => (avoided.has(stop) ? 0 : usable));
    const isOpen = (end: EngineEnd) => findWalks(end).some(({ stop }) => others[stop] === 1);
    const found = isOpen(query.from) && isOpen(query.to) ? planWith(others, query) : [];
    return found.some(({ rides }) => rides.length > 0) ? found : planWith(access.stops, query);
  }

  function planWith(
    usableStops: Uint8Array,
    { from, to, at, now, ...query }: Omit<EngineQuery, 'avoidedStops'>,
  ): EngineJourney[] {
    const { day, base, planner, secondsAt } = begin({ at, now });
    const plans = planner.plan({
      ...query,
      usableStops,
      access: findWalks(from),
      egress: findWalks(to),
      at: secondsAt(at),
      changeSeconds: CHANGE_SECONDS,
    });
    const changes = { changeSeconds: CHANGE_SECONDS, usableStops: query.isWheelchair ? usableStops : null };
    return plans.map((one) => {
      const rides = chooseChanges(planner.lines, footpaths, one.rides, changes);
      return toJourney({ ...one, rides }, planner, { day, base });
    });
  }

  function reach({ from, walks, without, at, now, until, most, areaAround, ...query }: EngineReachQuery): EngineReach {
    const { base, planner, secondsAt } = begin({ at, now });
    const { lines, runs } = planner;
    const [start, latest] = [secondsAt(at), secondsAt(until)];
    const access = findWalks(from);
    const found = planner.spread({ ...query, access, at: start, latest, changeSeconds: CHANGE_SECONDS });
    const options = { at: start, latest, rides: query.maxRides, walks };
    const reached = listReached(lines, footpaths, found, options);
    const stations = byStation(reached, timetable).filter(({ stop }) => !without.includes(stop));
    const read = { timetable, lines, labels: found, runs, base };
    return {
      stations: areaAround
        ? []
        : stations.slice(0, most).map((station) => ({
            stop: station.stop,
            arrivesAt: base + station.arrivesAt * SECOND_MS,
            rides: station.rides,
            ride: readLastRide(station, read),
          })),
      total: stations.length,
      area: areaAround && drawArea(areaAround, reached, { at: start, latest }),
    };
  }

  /** The area within a walk of the time that is left at the origin and at each stop. */
  function drawArea(origin: Position, reached: readonly Reached[], { at, latest }: { at: number; latest: number }) {
    const { stopLat, stopLng } = sections;
    const shoreAt = (position: Position) =>
      findShore(position, REACH_METRES, (...ends) => timetable.isOverWater(...ends));
    return mergeCircles([
      { position: origin, metres: walkMetres(latest - at), shore: shoreAt(origin) },
      ...reached.map(({ stop, arrivesAt }) => {
        const position: Position = [stopLat[stop] as number, stopLng[stop] as number];
        const shore = shores.has(stop) ? (shores.get(stop) ?? null) : shoreAt(position);
        shores.set(stop, shore);
        return { position, metres: walkMetres(latest - arrivesAt), shore };
      }),
    ]);
  }

  /** The journey with the first arrival at each destination, and of these the last to leave; null if there is none within a day. */
  function times({ from, to, at, now, ...query }: EngineTimesQuery): (EngineJourney | null)[] {
    const { day, base, planner, secondsAt } = begin({ at, now });
    const start = secondsAt(at);
    const ends = to.map(({ to: end, walkSeconds }) => ({ egress: findWalks(end), walkSeconds }));
    const request = { ...query, access: findWalks(from), at: start, changeSeconds: CHANGE_SECONDS };
    const row = query.maxRides * stopCount;
    for (const hours of HORIZON_HOURS) {
      const latest = start + hours * HOUR_SECONDS;
      const { arrived } = planner.spread({ ...request, latest });
      const first = ends.map(({ egress, walkSeconds }) => ({
        egress,
        ridden: Math.min(NEVER, ...egress.map(({ stop, seconds }) => (arrived[row + stop] as number) + seconds)),
        walked: walkSeconds === null ? NEVER : start + walkSeconds,
      }));
      const isLast = hours === HORIZON_HOURS.at(-1);
      if (!isLast && first.some(({ ridden, walked }) => Math.min(ridden, walked) > latest)) continue;
      return first.map(({ egress, ridden, walked }) => {
        const found =
          walked <= ridden
            ? walked < NEVER && walkOnly(start, walked)
            : ridden <= latest && planner.leaveLast({ ...request, latest }, egress, ridden);
        return found ? toJourney(found, planner, { day, base }) : null;
      });
    }
    return [];
  }

  function toJourney(
    { departsAt, arrivesAt, access: first, egress, rides }: Plan,
    { lines, runs }: Planner,
    { day, base }: { day: number; base: number },
  ): EngineJourney {
    const firstLive = lines.trips.length - runs.length;
    const toPart = (run: number, from: number, to: number): EnginePart => {
      const at = lines.liveRuns[run - firstLive];
      const live = at === undefined ? null : (runs[at] as LiveRun);
      return {
        trip: lines.trips[run] as number,
        day: day + (lines.days[run] as number),
        first: from,
        last: to,
        live: live && describeLive(live),
      };
    };
    return {
      departsAt: base + departsAt * SECOND_MS,
      arrivesAt: base + arrivesAt * SECOND_MS,
      access: first,
      egress,
      rides: rides.map(({ run, board, alightRun, alight }, index) => {
        const parts: EnginePart[] = [];
        for (let one = run; one !== alightRun; one = lines.nextRuns[one] as number) {
          parts.push(toPart(one, one === run ? board : 0, lastPosition(lines, one)));
        }
        parts.push(toPart(alightRun, alightRun === run ? board : 0, alight));
        const next = rides[index + 1];
        const here = callAt(lines, alightRun, alight).stop;
        const walkSeconds = next ? walkBetween(footpaths, here, callAt(lines, next.run, next.board).stop) : 0;
        return { parts, walkSeconds };
      }),
    };
  }

  function describeLive(run: LiveRun): NonNullable<EnginePart['live']> {
    const { added, living } = run;
    const named = added && { tripId: added.tripId, route: added.route, headsign: added.headsign };
    return { added: named, asOf: living.feed.headerAt, calls: listLiveCalls(timetable, run) };
  }
  /** Journeys past places, by departure. None is as early and arrives as late as another one without more rides. */
  function via({ ends, at, now, most, ...query }: EngineViaQuery): EngineViaPart[][] {
    const { day, base, planner, secondsAt } = begin({ at, now });
    const waypoints = ends.map((end) => ({
      ...end,
      stops: new Set(end.stops.map(({ stop }) => stop)),
      walks: findWalks(end),
    }));
    const options = { changeSeconds: CHANGE_SECONDS, rideIsWorthSeconds: CHANGE_IS_WORTH_SECONDS };
    const request = { ...query, ...options, at: secondsAt(at) };
    const usableStops = query.isWheelchair ? access.stops : null;
    const plan = (asked: PlanRequest) =>
      planner.plan(asked).map((one) => ({
        ...one,
        rides: chooseChanges(planner.lines, footpaths, one.rides, { changeSeconds: CHANGE_SECONDS, usableStops }),
      }));
    const found: ViaPart[][] = [];
    for (const parts of planVia({ lines: planner.lines, footpaths }, plan, waypoints, request)) {
      found.push(parts);
      if (found.length >= most) break;
    }
    return keepUndominated(found).map((parts) =>
      parts.map(({ from, to, plan: one }, index) => {
        const [before, next] = [parts[index - 1]?.plan.rides.at(-1), parts[index + 1]?.plan.rides[0]];
        const last = one.rides.at(-1);
        // Between two rides, the walk is between their platforms.
        const journey = toJourney(
          {
            ...one,
            ...(before && one.rides.length > 0 && { access: { ...one.access, seconds: 0 } }),
            ...(next && last && { egress: { ...one.egress, seconds: 0 } }),
          },
          planner,
          { day, base },
        );
        const end = journey.rides.at(-1);
        if (end && last && next) {
          const [here, there] = [
            callAt(planner.lines, last.alightRun, last.alight),
            callAt(planner.lines, next.run, next.board),
          ];
          end.walkSeconds = walkBetween(footpaths, here.stop, there.stop);
        }
        return { from, to, journey };
      }),
    );
  }

  const searches: Searches = { plan, reach, times, via };

  return {
    search<Name extends SearchName>(name: Name, query: SearchQuery<Name>): SearchResult<Name> {
      return (searches[name] as (query: SearchQuery<Name>) => SearchResult<Name>)(query);
    },
    warm: (now: number) => openDay(calendarDayAt(now)),
    async takeFeed(source: FeedSourceId, packedFeed: ArrayBuffer | null): Promise<void> {
      const known = feeds.get(source) ?? { version: 0, runs: [] };
      const own = { version: known.version + 1, runs: known.runs };
      feeds.set(source, own);
      const living = packedFeed && { source, modes: FEED_SOURCES[source].modes, feed: new Feed(packedFeed) };
      const runs = living ? await readLiveRuns(timetable, living, () => feeds.get(source) !== own) : [];
      if (!runs) return;
      own.runs = runs;
      version++;
    },
  };
}

let engine: ReturnType<typeof openEngine> | null = null;

parentPort?.on('message', (message: EngineMessage) => {
  if (message.kind === 'timetable') {
    engine = openEngine(message.packed);
    engine.warm(message.now);
    parentPort?.postMessage('ready');
  } else if (message.kind === 'feed') {
    engine?.takeFeed(message.source, message.packed).catch(() => {});
  } else {
    const { id, name, query } = message;
    try {
      if (engine) reply({ id, found: engine.search(name, query) });
    } catch (error) {
      reply({ id, problem: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
});

function reply(message: EngineReply): void {
  parentPort?.postMessage(message);
}
