import type { Endpoint } from '../journeys/endpoint.ts';
import { walkMetres } from '../journeys/footpath.ts';
import { seedOf, trait } from '../trait.ts';
import { timestamp } from './common.ts';
import { coordOf, journeyLocation, journeyStop, suburbOf } from './location.ts';
import { footTransportation } from './transportation.ts';

/** A walk in a journey. Times are planned times in epoch seconds. */
export interface Walk {
  from: Endpoint;
  to: Endpoint;
  departureSeconds: number;
  arrivalSeconds: number;
  /**
   * The delay of the ride before the walk; for a leading walk, of the ride after it. Estimated times are planned times plus
   * this.
   */
  delaySeconds: number;
}

/** A leg on foot: class 99 between two platforms of one stop, class 100 along streets. */
export function walkLeg(walk: Walk): object {
  const { from, to, departureSeconds, arrivalSeconds, delaySeconds } = walk;
  const isWithinStop = from.kind === 'point' && to.kind === 'point' && from.at.home === to.at.home;
  const seed = seedOf(`${from.at.id}-${to.at.id}`);
  const durationSeconds = arrivalSeconds - departureSeconds;
  const start = walkEnd(from, isWithinStop, trait(seed, 1));
  const end = walkEnd(to, isWithinStop, trait(seed, 2));
  const departure = timestamp(departureSeconds);
  const arrival = timestamp(arrivalSeconds);
  const coords = [coordOf(from.at), coordOf(to.at)];
  return {
    duration: durationSeconds,
    distance: walkMetres(from.at, to.at),
    origin: {
      ...start,
      departureTimeBaseTimetable: departure,
      departureTimePlanned: departure,
      departureTimeEstimated: timestamp(departureSeconds + delaySeconds),
    },
    destination: {
      ...end,
      arrivalTimeBaseTimetable: arrival,
      arrivalTimePlanned: arrival,
      arrivalTimeEstimated: timestamp(arrivalSeconds + delaySeconds),
    },
    transportation: footTransportation(isWithinStop ? 99 : 100),
    ...((isWithinStop || trait(seed, 3) < 0.5) && {
      stopSequence: [
        { ...start, departureTimePlanned: departure },
        { ...end, arrivalTimePlanned: arrival },
      ],
    }),
    ...(isWithinStop && {
      footPathInfo: [{ position: 'IDEST', duration: durationSeconds }],
      footPathInfoRedundant: true,
    }),
    infos: [],
    coords,
    ...(trait(seed, 4) < 0.7 && { pathDescriptions: pathDescriptions(walk, coords) }),
  };
}

/** Upstream omits `disassembledName` at some ends of walks, or writes "???". */
function walkEnd(end: Endpoint, isWithinStop: boolean, carelessness: number) {
  const location = endLocation(end);
  if (isWithinStop && end.kind === 'point') {
    const { disassembledName: _, ...rest } = location;
    return { ...rest, name: end.at.home.name };
  }
  if (carelessness < 0.05) return { ...location, disassembledName: '???' };
  if (carelessness < 0.3) {
    const { disassembledName: _, ...rest } = location;
    return rest;
  }
  return location;
}

function endLocation(end: Endpoint) {
  if (end.kind === 'stop') return journeyStop(end.at);
  if (end.kind === 'point') return journeyLocation(end.at, {});
  const { id, name, locality, type } = end.at;
  return {
    id,
    name: locality === undefined ? name : `${name}, ${locality}`,
    disassembledName: name,
    type,
    coord: coordOf(end.at),
    ...(locality !== undefined && {
      parent: { ...suburbOf({ locality }), disassembledName: '' },
    }),
  };
}

function pathDescriptions({ from, to, departureSeconds, arrivalSeconds }: Walk, coords: [number, number][]): object[] {
  const [duration, distance] = [arrivalSeconds - departureSeconds, walkMetres(from.at, to.at)];
  const part = (
    turnDirection: string,
    manoeuvre: string,
    duration: number,
    distance: number,
    toCoordsIndex: number,
  ) => ({
    turnDirection,
    manoeuvre,
    name: '',
    coord: coords[0],
    duration,
    cumDuration: duration,
    distance,
    cumDistance: distance,
    fromCoordsIndex: 0,
    toCoordsIndex,
  });
  return [part('UNKNOWN', 'ORIGIN', 0, 0, 0), part('STRAIGHT', 'KEEP', duration, distance, coords.length - 1)];
}
