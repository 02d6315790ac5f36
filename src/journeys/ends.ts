import { withTimeLimit } from '../core/clock.ts';
import type { Ask } from '../efa/ask.ts';
import { mayBeStop } from '../efa/expected-response.ts';
import { findStopName, listIds, readStopPoint } from '../efa/stop-point.ts';
import { nullIfApiError } from '../errors/api-error.ts';
import type { StopRegister } from '../stops/register.ts';
import { distanceMetres, formatPlace, isPlaceId, nameInPlaceId, type Place } from '../transit/place.ts';
import { withoutPlatform } from '../transit/platform-label.ts';
import { STOP_ID } from '../transit/region.ts';
import { destinationOf, type Journey, originOf } from './journey.ts';
import type { Leg } from './leg.ts';
import type { KnownPositions, LegEnd } from './leg-end.ts';

/** Upstream moves a position to an address or a stop near it. */
const NEAR_METRES = 5000;
/** A stop and the stands around it lie nearer to each other. */
const ELSEWHERE_METRES = 1000;
/** A name that only repeats the position: "151.2069:-33.8731", "coord:151.2069:-33.8731:EPSG:4326". */
const BARE_POSITION = /^(coord:)?-?\d+\.\d+[:,]/;

/** Whether a journey that begins or ends here may be one that was asked for. */
export function isAsked({ ids, position }: LegEnd, place: Place): boolean {
  return typeof place === 'string' ? mayBeStop(ids, place) : distanceMetres(position, place) <= NEAR_METRES;
}

/** Whether the journey begins or ends far from where it was asked to. `ofStop` says where stops are, as far as that is known. */
export function goesElsewhere(journey: Journey, from: Place, to: Place, ofStop: KnownPositions['ofStop']): boolean {
  const isFar = ({ ids, position }: LegEnd, place: Place) => {
    if (typeof place === 'string' && ids.includes(place)) return false;
    const asked = typeof place === 'string' ? ofStop(place) : place;
    return asked !== null && distanceMetres(position, asked) > ELSEWHERE_METRES;
  };
  return isFar(originOf(journey), from) || isFar(destinationOf(journey), to);
}

/**
 * The journey, with ends that are no stops identified as they were asked for, which works as `from` and `to` again. They
 * are called by the address, where upstream knows one.
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

/** The name of an end for which the journeys have none. */
function nameOf(place: Place): string {
  return typeof place === 'string' && isPlaceId(place) ? nameInPlaceId(place) : formatPlace(place);
}

/** Journeys do not wait longer for a name. */
const PATIENCE_MS = 1500;
/** Legs of the first modes call a station by its name, "Town Hall Station, Platform 3", the next by the stand, "Town Hall, Park St, Stand K". Light rail has a name of its own, "Town Hall Light Rail". */
const MODES_BY_CERTAINTY: readonly (readonly Leg['mode'][])[] = [
  ['train', 'metro', 'ferry', 'walk'],
  ['bus', 'coach', 'schoolbus'],
  ['lightrail'],
];
/** Street stops, with a `G`, are called as their poles are. */
const STATION = /^\d+$/;

/**
 * The name of the stop asked for: that of the list of stops, whatever a response calls it. Where the list does not have it and only its
 * stands are named, upstream is asked what the stop is called.
 */
export async function nameEnd(
  { ask, stops }: { ask: Ask; stops: Pick<StopRegister, 'get'> },
  journeys: readonly Journey[],
  stopId: string,
  end: 'origin' | 'destination',
): Promise<string> {
  const listed = stops.get(stopId);
  if (listed) return withoutPlatform(listed.name);
  const { name, isCertain } = findEndName(journeys, stopId, end);
  return isCertain ? name : ((await findStationName(ask, stopId)) ?? name);
}

/**
 * The name that the journeys give the stop asked for; `isCertain` is false where they only say what a part of a station is called.
 * It is the name of that very point, else of the stop whose platform it is, else the name that most journeys use; of these,
 * what is called after the station comes first.
 */
function findEndName(journeys: readonly Journey[], stopId: string, end: 'origin' | 'destination') {
  const ends = journeys.map(({ legs }) => {
    const leg = legs.at(end === 'origin' ? 0 : -1) as Leg;
    return { ...leg[end], mode: leg.mode };
  });
  for (const [index, modes] of MODES_BY_CERTAINTY.entries()) {
    const those = ends.filter(({ mode }) => modes.includes(mode));
    const own = findMostFrequent(those.filter((one) => one.stopId === stopId).map(({ name }) => name));
    if (own !== null) return { name: own, isCertain: true };
    const parent = findMostFrequent(those.flatMap((one) => (one.parent?.ids.includes(stopId) ? one.parent.name : [])));
    if (parent !== null) return { name: parent, isCertain: index === 0 || !STATION.test(stopId) };
  }
  const isElsewhere = isPlaceId(stopId);
  const names = isElsewhere ? [] : ends.map(({ name }) => name);
  const isUnnamed = names.length === 0 && STOP_ID.test(stopId);
  return { name: findMostFrequent(names) ?? nameOf(stopId), isCertain: !isUnnamed };
}

/** Null where upstream does not know it, or not soon. */
async function findStationName(ask: Ask, stopId: string): Promise<string | null> {
  try {
    const { payload } = await withTimeLimit(PATIENCE_MS, (signal) =>
      ask({ kind: 'stopFinder', text: stopId }, { priority: 'background', signal }),
    );
    const places = payload.locations.flatMap((place) => readStopPoint(place) ?? []);
    const stop = places.find((place) => place.type === 'stop' && listIds(place).includes(stopId));
    return stop ? findStopName(stop) : null;
  } catch (error) {
    return nullIfApiError(error);
  }
}

function findMostFrequent(names: readonly string[]): string | null {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, group]) => ({ name, count: group.length }));
  return counts.sort((one, other) => other.count - one.count)[0]?.name ?? null;
}
