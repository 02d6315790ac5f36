import { hasLittleMemory } from '../core/memory-limit.ts';
import type { FeedSourceId } from '../realtime/polling/feed-source.ts';
import type { Choices } from '../transit/choices.ts';
import type { Position } from '../transit/place.ts';
import type { PackedPolygons } from './area.ts';
import type { SharedLines } from './raptor/lines.ts';
import type { Walk } from './raptor/query.ts';
import type { LastRide } from './reached.ts';

/*
 * What engine.ts and its threads (engine-thread.ts) send each other.
 */

/**
 * Stops at which a journey may begin or end, with the walk to each in seconds. `withAround` adds the stops within walking
 * distance of them.
 */
export interface EngineEnd {
  stops: readonly Walk[];
  withAround: boolean;
  /** Where walks to the stops around begin or end. */
  position?: Position;
}

/** What all searches have in common. Moments are in milliseconds since 1970. */
interface EngineSearch {
  at: number;
  now: number;
  choices?: Choices | undefined;
  /** One bit for each requested mode. */
  modes: number;
  isWheelchair: boolean;
  /** Stops that a wheelchair user may use only if there are no other journeys. Searches of many places never use them. */
  avoidedStops: readonly number[];
  maxRides: number;
}

/** A search for a list of journeys, as in `PlanRequest`. */
export interface EngineListQuery extends EngineSearch {
  isArrival: boolean;
  /** Searches the three days ahead or before instead of one. */
  isFar?: boolean;
  withoutBooking?: boolean;
  limit: number;
}

/** A search for journeys between two ends. */
export interface EngineQuery extends EngineListQuery {
  from: EngineEnd;
  to: EngineEnd;
  /** The walk from end to end; null if it is too far. */
  walkSeconds: number | null;
}

/** A search for the stops that are reached from one place until a moment. */
interface EngineReachQuery extends EngineSearch {
  from: EngineEnd;
  limit: number;
  until: number;
  /** The stops that are reached on foot from the origin. */
  walks: readonly Walk[];
  /** The origin's stations, which are not listed. */
  without: readonly number[];
  /** The position of the origin if the area is requested instead of the stops. */
  areaAround: Position | null;
}

interface EngineReach {
  /** The stations, earliest arrival first, up to the requested number. Moments are in milliseconds since 1970. */
  stations: { stop: number; arrivesAt: number; rides: number; ride: LastRide | null }[];
  /** The number of all stations reached. */
  total: number;
  area: PackedPolygons | null;
}

/** A search for the first arrival at each destination. */
interface EngineTimesQuery extends EngineSearch {
  from: EngineEnd;
  to: readonly { to: EngineEnd; walkSeconds: number | null }[];
}

/** An end with the minimum stay there, and the walk from the end before as in `Waypoint`. */
interface EngineWaypoint extends EngineEnd {
  staySeconds: number;
  walkSeconds: number | null;
}

/** A search for journeys via some places, in order. */
export interface EngineViaQuery extends EngineListQuery {
  /** The origin, the places on the way and the destination. */
  ends: readonly EngineWaypoint[];
}

/** A part of a journey. `from` and `to` are indices of the query's `ends`. The walk after its last ride leads to the next part. */
export interface EngineViaPart {
  from: number;
  to: number;
  journey: EngineJourney;
}

/** A part of a ride that stays in one run, from one call to another. */
export interface EnginePart {
  trip: number;
  day: number;
  /** The indices of its calls, as in `LiveRun`. */
  first: number;
  last: number;
  /** Where the run is in the snapshots of the search; null if no feed has it. */
  live: { source: FeedSourceId; run: number } | null;
}

/** A ride with the walk after it, in seconds. */
export interface EngineRide {
  /** More than one if the vehicle continues as another run. */
  parts: EnginePart[];
  /** The walk to the next ride; 0 if there is none. */
  walkSeconds: number;
}

/** A journey as a search finds it. Moments are in milliseconds since 1970, walks in seconds. */
export interface EngineJourney {
  departsAt: number;
  arrivesAt: number;
  access: Walk;
  egress: Walk;
  rides: EngineRide[];
}

export type EngineMessage =
  /** The timetable of all later searches. A thread first frees what it has of the previous one. */
  | { kind: 'timetable'; packed: SharedArrayBuffer }
  /** The lines of a day that another thread has made. */
  | { kind: 'lines'; day: number; lines: SharedLines }
  /** Prepares the lines of today and replies `ready`, then runs its code until that is fast and replies `warm`. */
  | { kind: 'warm'; now: number }
  /** The snapshots that searches use from now on. */
  | { kind: 'snapshots'; packed: readonly SharedArrayBuffer[] }
  /** Frees the lines of all other days, because memory runs short. */
  | { kind: 'keep'; day: number }
  | {
      kind: 'search';
      id: number;
      name: SearchName;
      query: SearchQuery<SearchName>;
      /** The search ends by itself at this time, in milliseconds since 1970, with the journeys that it has found. */
      deadlineAt: number;
    };

/**
 * How many days a thread keeps: yesterday, today and tomorrow, which all threads share, and the two others searched last, unless
 * memory is small. With the lines of both directions, a day of New South Wales takes 16 MB; opening it takes some 100 ms of
 * processor time.
 */
export const KEPT_DAYS = hasLittleMemory() ? 3 : 5;

/** What a search thread can search: journeys between two ends, from one place to all or some others, and via others. */
export interface Searches {
  plan(query: EngineQuery): EngineJourney[];
  reach(query: EngineReachQuery): EngineReach;
  times(query: EngineTimesQuery): (EngineJourney | null)[];
  via(query: EngineViaQuery): EngineViaPart[][];
}
export type SearchName = keyof Searches;
export type SearchQuery<Name extends SearchName> = Parameters<Searches[Name]>[0];
export type EngineResult<Name extends SearchName> = ReturnType<Searches[Name]>;

/** The problem of a search that ended at its deadline and had found nothing. */
export const TOOK_TOO_LONG = 'the journey search took too long';

export type EngineReply = { id: number } & (
  | { found: EngineResult<SearchName>; isPartial?: boolean; mayBeFar?: boolean }
  | { problem: string }
);

/** What a thread sends: that it can search, that it searches fast, the lines of a day for the others, or the result of a search. */
export type ThreadMessage = 'ready' | 'warm' | { day: number; lines: SharedLines } | EngineReply;
