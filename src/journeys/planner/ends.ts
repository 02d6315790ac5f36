import { withTimeLimit } from '../../core/clock.ts';
import { mayBeStop } from '../../efa/expected-response.ts';
import type { QueryUpstream } from '../../efa/query-upstream.ts';
import { listIds, parseStopPoint, toStopName } from '../../efa/stop-point.ts';
import { nullIfApiError } from '../../errors/api-error.ts';
import type { StopLookup } from '../../stops/register.ts';
import { destinationOf, type Journey, type Leg, type LegEnd, originOf } from '../../transit/journey.ts';
import { distanceMetres, formatPlace, isPlaceId, nameInPlaceId, type Place } from '../../transit/place.ts';
import { withoutPlatform } from '../../transit/platform-label.ts';
import { STOP_ID } from '../../transit/region.ts';
import type { KnownPositions } from './leg-end.ts';

/** Upstream moves a position by at most this distance, to a nearby address or stop. */
const NEAR_METRES = 5000;
/** An end farther than this from the requested place is elsewhere. A stop and its stands are always nearer to each other. */
const ELSEWHERE_METRES = 1000;
/** A name that only repeats the coordinates: "151.2069:-33.8731", "coord:151.2069:-33.8731:EPSG:4326". */
const BARE_POSITION = /^(coord:)?-?\d+\.\d+[:,]/;

/** Whether a requested journey may begin or end here. */
export function isRequestedEnd({ ids, position }: LegEnd, place: Place): boolean {
  return typeof place === 'string' ? mayBeStop(ids, place) : distanceMetres(position, place) <= NEAR_METRES;
}

/** Whether the journey begins or ends far from the requested places. `ofStop` gives the position of a stop, if known. */
export function goesElsewhere(journey: Journey, from: Place, to: Place, ofStop: KnownPositions['ofStop']): boolean {
  const isFar = ({ ids, position }: LegEnd, place: Place) => {
    if (typeof place === 'string' && ids.includes(place)) return false;
    const requested = typeof place === 'string' ? ofStop(place) : place;
    return requested !== null && distanceMetres(position, requested) > ELSEWHERE_METRES;
  };
  return isFar(originOf(journey), from) || isFar(destinationOf(journey), to);
}

/**
 * Returns the journey with the requested identifiers at ends that are not stops, so that they work as `from` and `to` again.
 * Their names are the addresses, if upstream knows one.
 */
export function identifyEnds(journey: Journey, from: Place, to: Place): Journey {
  const { legs } = journey;
  const last = legs.length - 1;
  return {
    ...journey,
    legs: legs.map((leg, index) => ({
      ...leg,
      ...(index === 0 && { origin: identify(leg.origin, from) }),
      ...(index === last && { destination: identify(leg.destination, to) }),
    })),
  };
}

function identify(end: LegEnd, place: Place): LegEnd {
  if (isStop(place) || STOP_ID.test(end.stopId)) return end;
  const stopId = formatPlace(place);
  return { ...end, stopId, name: BARE_POSITION.test(end.name) ? nameOf(place) : end.name };
}

function isStop(place: Place): place is string {
  return typeof place === 'string' && !isPlaceId(place);
}

/** The name of an end that has none in the journeys. */
function nameOf(place: Place): string {
  return typeof place === 'string' && isPlaceId(place) ? nameInPlaceId(place) : formatPlace(place);
}

/** Journeys wait no longer than this for a name. */
const PATIENCE_MS = 1500;
/**
 * Names of stations are most reliable in legs of the first group ("Town Hall Station, Platform 3"). The second uses the stand
 * ("Town Hall, Park St, Stand K"). Light rail has a name of its own ("Town Hall Light Rail").
 */
const MODES_BY_CERTAINTY: readonly (readonly Leg['mode'][])[] = [
  ['train', 'metro', 'ferry', 'walk'],
  ['bus', 'coach', 'schoolbus'],
  ['lightrail'],
];
/** The IDs of stations. Those of groups of poles at a street begin with `G`; a group has the name of its poles. */
const STATION = /^\d+$/;

/**
 * Returns the name of the requested stop, from the register of stops if it is there. Otherwise, if the journeys name only its
 * stands, the name is requested from upstream.
 */
export async function nameEnd(
  { queryUpstream, stops }: { queryUpstream: QueryUpstream; stops: StopLookup },
  journeys: readonly Journey[],
  stopId: string,
  end: 'origin' | 'destination',
): Promise<string> {
  const registered = stops.get(stopId);
  if (registered) return withoutPlatform(registered.name);
  const { name, isCertain } = chooseEndName(journeys, stopId, end);
  return isCertain ? name : ((await fetchStationName(queryUpstream, stopId)) ?? name);
}

/**
 * Returns the name that the journeys give the requested stop. For each group of `MODES_BY_CERTAINTY` in turn, it looks for the name
 * of the stop itself, then for that of the platform's stop; in the end it takes the most frequent name. `isCertain` is false if the
 * journeys only name a part of the station.
 */
function chooseEndName(journeys: readonly Journey[], stopId: string, end: 'origin' | 'destination') {
  const ends = journeys.map(({ legs }) => {
    const leg = legs.at(end === 'origin' ? 0 : -1) as Leg;
    return { ...leg[end], mode: leg.mode };
  });
  for (const [index, modes] of MODES_BY_CERTAINTY.entries()) {
    const candidates = ends.filter(({ mode }) => modes.includes(mode));
    const ownName = findMostFrequent(candidates.filter((end) => end.stopId === stopId).map(({ name }) => name));
    if (ownName !== null) return { name: ownName, isCertain: true };
    const parent = findMostFrequent(
      candidates.flatMap((end) => (end.parent?.ids.includes(stopId) ? end.parent.name : [])),
    );
    if (parent !== null) return { name: parent, isCertain: index === 0 || !STATION.test(stopId) };
  }
  const isElsewhere = isPlaceId(stopId);
  const names = isElsewhere ? [] : ends.map(({ name }) => name);
  const isUnnamed = names.length === 0 && STOP_ID.test(stopId);
  return { name: findMostFrequent(names) ?? nameOf(stopId), isCertain: !isUnnamed };
}

/** Null if upstream does not know the stop, or does not answer in time. */
async function fetchStationName(queryUpstream: QueryUpstream, stopId: string): Promise<string | null> {
  try {
    const { payload } = await withTimeLimit(PATIENCE_MS, (signal) =>
      queryUpstream({ kind: 'stopFinder', text: stopId }, { priority: 'background', signal }),
    );
    const places = payload.locations.flatMap((place) => parseStopPoint(place) ?? []);
    const stop = places.find((place) => place.type === 'stop' && listIds(place).includes(stopId));
    return stop ? toStopName(stop) : null;
  } catch (error) {
    return nullIfApiError(error);
  }
}

function findMostFrequent(names: readonly string[]): string | null {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, group]) => ({ name, count: group.length }));
  return counts.sort((a, b) => b.count - a.count)[0]?.name ?? null;
}
