import { readStopPoint } from '../efa/answer/place.ts';
import type { Ask } from '../efa/ask.ts';
import { findStopName, listIds } from '../efa/stop-point.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Journey } from './journey.ts';
import type { Leg } from './leg.ts';

/** What the journeys call the stop asked for. */
interface EndName {
  name: string;
  /** False where the journeys give only what a part of a station is called. */
  isCertain: boolean;
}

/** Journeys do not wait longer for a name. */
const PATIENCE_MS = 1500;
/** Legs of these modes call a station by its name, "Town Hall Station, Platform 3". */
const BY_STATION: readonly Leg['mode'][] = ['train', 'metro', 'ferry', 'walk'];
/** Buses call it by the stand, "Town Hall, Park St, Stand K". Light rail has a name of its own, "Town Hall Light Rail". */
const MODES_BY_CERTAINTY: ((mode: Leg['mode']) => boolean)[] = [
  (mode) => BY_STATION.includes(mode),
  (mode) => !BY_STATION.includes(mode) && mode !== 'lightrail',
  (mode) => mode === 'lightrail',
];
/** Street stops, with a `G`, are called as their poles are. */
const STATION = /^\d+$/;

/** The name of the stop asked for. Where only its stands are named, the authority is asked what the stop is called. */
export async function nameEnd(
  ask: Ask,
  journeys: readonly Journey[],
  stopId: string,
  end: 'origin' | 'destination',
): Promise<string> {
  const { name, isCertain } = findEndName(journeys, stopId, end);
  return isCertain ? name : ((await findStationName(ask, stopId)) ?? name);
}

/**
 * The name of that very point, else of the stop whose platform it is, else the name that most journeys use; of these,
 * what is called after the station comes first.
 */
function findEndName(journeys: readonly Journey[], stopId: string, end: 'origin' | 'destination'): EndName {
  const ends = journeys.map(({ legs }) => {
    const leg = legs.at(end === 'origin' ? 0 : -1) as Leg;
    return { ...leg[end], mode: leg.mode };
  });
  for (const [index, isOfMode] of MODES_BY_CERTAINTY.entries()) {
    const those = ends.filter(({ mode }) => isOfMode(mode));
    const own = findMostFrequent(those.filter((one) => one.stopId === stopId).map(({ name }) => name));
    if (own !== null) return { name: own, isCertain: true };
    const parent = findMostFrequent(those.flatMap((one) => (one.parent?.ids.includes(stopId) ? one.parent.name : [])));
    if (parent !== null) return { name: parent, isCertain: index === 0 || !STATION.test(stopId) };
  }
  return { name: findMostFrequent(ends.map(({ name }) => name)) ?? stopId, isCertain: true };
}

/** Null where the authority does not know it, or not soon. */
async function findStationName(ask: Ask, stopId: string): Promise<string | null> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const { payload } = await ask({ kind: 'stopFinder', text: stopId }, { priority: 'background', signal });
    const places = payload.locations.flatMap((place) => readStopPoint(place) ?? []);
    const stop = places.find((place) => place.type === 'stop' && listIds(place).includes(stopId));
    return stop ? findStopName(stop) : null;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

function findMostFrequent(names: readonly string[]): string | null {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, group]) => ({ name, count: group.length }));
  return counts.sort((one, other) => other.count - one.count)[0]?.name ?? null;
}
