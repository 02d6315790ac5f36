import { mayBeStop } from '../efa/known-stop.ts';
import { formatPlace, type Place } from '../transit/place.ts';
import { distanceMetres } from '../transit/stop.ts';
import type { Journey } from './journey.ts';
import type { LegEnd } from './leg-end.ts';

/** The authority moves a position to an address or a stop near it. */
const NEAR_METRES = 5000;
const STOP_ID = /^G?\d+$/;
/** A name that only repeats the position: "151.2069:-33.8731", "coord:151.2069:-33.8731:EPSG:4326". */
const BARE_POSITION = /^(coord:)?-?\d+\.\d+[:,]/;

/** Whether a journey that begins or ends here may be one that was asked for. */
export function isAsked({ ids, position }: LegEnd, place: Place): boolean {
  return typeof place === 'string' ? mayBeStop(ids, place) : distanceMetres(position, place) <= NEAR_METRES;
}

/**
 * The journey, with ends that are no stops identified as they were asked for: by `lat,lng`, which works as `from` and
 * `to` again. They are called by the address, where the authority knows one.
 */
export function identifyEnds({ legs }: Journey, from: Place, to: Place): Journey {
  const last = legs.length - 1;
  return {
    legs: legs.map((leg, index) => ({
      ...leg,
      ...(index === 0 && { origin: identify(leg.origin, from) }),
      ...(index === last && { destination: identify(leg.destination, to) }),
    })),
  };
}

function identify(end: LegEnd, place: Place): LegEnd {
  if (typeof place === 'string' || STOP_ID.test(end.stopId)) return end;
  const stopId = formatPlace(place);
  return { ...end, stopId, name: BARE_POSITION.test(end.name) ? stopId : end.name };
}
