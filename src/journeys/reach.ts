import { MINUTE_MS } from '../core/clock.ts';
import type { Turn } from '../core/turn-queue.ts';
import { beyondTimetable, noTimetable, notInTimetable } from '../errors/messages.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { Choices } from '../transit/choices.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { Journey } from '../transit/journey.ts';
import { formatPlace, type Place } from '../transit/place.ts';
import { LONGEST_WALK_METRES } from '../transit/walking.ts';
import { type MultiPolygon, unpackPolygons } from './area.ts';
import { withNewestTimetable } from './engines.ts';
import type { LastRide } from './reached.ts';
import type { RiderQuery } from './source.ts';
import {
  asOfRides,
  beginSearch,
  coversEnds,
  DEFAULT_CHANGES,
  type End,
  findEnd,
  isWharf,
  mapJourney,
  secondsOnFoot,
  type TimetableSearch,
  toEngineEnd,
} from './timetable.ts';

interface Origin extends RiderQuery {
  from: Place;
}

/** A search for what is reached within `minutes` of the requested time. */
export interface ReachQuery extends Origin {
  minutes: number;
  /** The maximum number of stations. */
  limit: number;
  /** Whether the area is requested instead of the stations. */
  isArea: boolean;
}

/** A station or stop that is reached. Moments are in milliseconds since 1970. */
interface ReachedStation {
  stopId: string;
  name: string;
  lat: number;
  lng: number;
  arrivesAt: number;
  changes: number;
  /** Null on foot. */
  ride: LastRide | null;
}

interface ReachOrigin {
  /** The name of the origin; null for a position. */
  name: string | null;
  freshness: Freshness;
}

export interface FoundReach extends ReachOrigin {
  /** When the search begins, in milliseconds since 1970. */
  departsAt: number;
  /** The earliest arrival first, without the origin. */
  stations: ReachedStation[];
  /** The number of all stations. */
  total: number;
  area: MultiPolygon | null;
}

interface FoundTimes extends ReachOrigin {
  /** In the order of the query. The journey is null if there is none within a day. */
  destinations: { stopId: string; name: string; journey: Journey | null }[];
}

/**
 * Searches of the timetable from one place to many. They throw `STOP_NOT_FOUND` for a place that the timetable does not have,
 * `DATE_OUT_OF_RANGE` for a time that it does not cover, and `SERVICE_UNAVAILABLE` while there is no timetable.
 */
export interface Reach {
  search(query: ReachQuery, turn?: Turn): Promise<FoundReach>;
  times(query: Origin & { to: readonly string[] }, turn?: Turn): Promise<FoundTimes>;
}

export function timetableReach(options: TimetableSearch): Reach {
  const { listAlerts: findAlerts = () => [] } = options;

  async function begin(query: Origin, turn?: Turn) {
    const timetable = options.timetable.get();
    if (!timetable) throw noTimetable(options.timetable.missing());
    const endOf = (place: Place, parameter: string) => {
      const end = findEnd(timetable, place, query.choices);
      if (!end) throw notInTimetable(parameter, formatPlace(place));
      return end;
    };
    const from = endOf(query.from, 'from');
    const engineSearch = await beginSearch(options, timetable, query, turn);
    const { at } = engineSearch.common;
    if (!coversEnds(timetable, [from], { at, modes: query.modes })) {
      throw beyondTimetable(query.at?.date ?? null, timetable.lastDay());
    }
    const common = {
      ...engineSearch.common,
      from: toEngineEnd(from),
      maxRides: DEFAULT_CHANGES + 1,
    };
    return { ...engineSearch, common, timetable, from, endOf };
  }

  const once: Reach = {
    async search({ minutes, limit, isArea, ...query }, turn) {
      const { timetable, from, common, search, freshness } = await begin(query, turn);
      const ownStations = new Set(from.stop === null ? [] : from.stops.map(({ stop }) => timetable.stationOf(stop)));
      const { found } = await search('reach', {
        ...common,
        until: common.at + minutes * MINUTE_MS,
        walks: listWalks(timetable, from, query.choices),
        without: [...ownStations],
        limit,
        areaAround: isArea ? from.position : null,
      });
      const { stations, total, area } = found;
      return {
        name: from.name,
        departsAt: common.at,
        stations: stations.map(({ stop, arrivesAt, rides, ride }) => {
          const { id, name, lat, lng } = timetable.stop(stop);
          return { stopId: id, name, lat, lng, arrivesAt, changes: Math.max(0, rides - 1), ride };
        }),
        total,
        area: area && unpackPolygons(area),
        freshness: freshness(stations.flatMap(({ ride }) => ride?.asOf ?? [])),
      };
    },

    async times({ to, ...query }, turn) {
      const { timetable, from, common, search, freshness, endOf } = await begin(query, turn);
      const ends = to.map((stopId) => endOf(stopId, 'to'));
      const { found: journeys, live } = await search('times', {
        ...common,
        to: ends.map((end) => ({
          to: toEngineEnd(end),
          walkSeconds: secondsOnFoot(timetable, from, end, query.choices),
        })),
      });
      const found = journeys.flatMap((journey) => journey ?? []);
      return {
        name: from.name,
        destinations: ends.map((end, index) => {
          const journey = journeys[index];
          return {
            stopId: to[index] as string,
            name: end.name ?? (to[index] as string),
            journey: journey
              ? mapJourney(journey, { live, from, to: end, listAlerts: findAlerts, notBefore: common.at })
              : null,
          };
        }),
        freshness: freshness(asOfRides(found, live)),
      };
    },
  };
  return {
    search: (query, turn) => withNewestTimetable(() => once.search(query, turn)),
    times: (query, turn) => withNewestTimetable(() => once.times(query, turn)),
  };
}

/** The stops that are reached on foot, by the rules of a journey on foot. A platform is where its station is. */
function listWalks(timetable: Timetable, from: End, choices: Choices | undefined) {
  return timetable.near(...from.position, LONGEST_WALK_METRES).flatMap(({ index }) => {
    if (timetable.patternsAt(index).length === 0) return [];
    const there = {
      position: timetable.positionOf(timetable.stationOf(index)),
      isWharf: isWharf(timetable, index),
    };
    const seconds = secondsOnFoot(timetable, from, there, choices);
    return seconds === null ? [] : [{ stop: index, seconds }];
  });
}
