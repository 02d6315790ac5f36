import { type Endpoint, positionOf } from '../journeys/endpoint.ts';
import { walkMetres } from '../journeys/footpath.ts';
import { seedOf, trait } from '../trait.ts';
import { timestamp } from './common.ts';
import { coordOf, journeyLocation, journeyStop, suburbOf } from './location.ts';
import { footTransportation } from './transportation.ts';

export interface Walk {
  from: Endpoint;
  to: Endpoint;
  departureSeconds: number;
  arrivalSeconds: number;
  /**
   * Delay of the ride before the walk, or of the ride after a leading walk. Estimated times are planned times plus
   * delay.
   */
  delaySeconds: number;
}

/** Leg on foot: class 99 between two platforms of one stop, class 100 along streets. */
export function walkLeg(walk: Walk): object {
  const { from, to, departureSeconds, arrivalSeconds, delaySeconds } = walk;
  const isWithinStop = from.kind === 'point' && to.kind === 'point' && from.point.home === to.point.home;
  const seed = seedOf(`${keyOf(from)}-${keyOf(to)}`);
  const durationSeconds = arrivalSeconds - departureSeconds;
  const start = walkEnd(from, isWithinStop, trait(seed, 1));
  const end = walkEnd(to, isWithinStop, trait(seed, 2));
  const departure = timestamp(departureSeconds);
  const arrival = timestamp(arrivalSeconds);
  const coords = [coordOf(positionOf(from)), coordOf(positionOf(to))];
  return {
    duration: durationSeconds,
    distance: walkMetres(positionOf(from), positionOf(to)),
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

/** Upstream leaves out `disassembledName` at some ends of walks, or writes "???" in it. */
function walkEnd(end: Endpoint, isWithinStop: boolean, carelessness: number) {
  const location = endLocation(end);
  if (isWithinStop && end.kind === 'point') {
    const { disassembledName: _, ...rest } = location;
    return { ...rest, name: end.point.home.name };
  }
  if (carelessness < 0.05) return { ...location, disassembledName: '???' };
  if (carelessness < 0.3) {
    const { disassembledName: _, ...rest } = location;
    return rest;
  }
  return location;
}

function endLocation(end: Endpoint) {
  if (end.kind === 'stop') return journeyStop(end.stop);
  if (end.kind === 'point') return journeyLocation(end.point, {});
  const { id, name, locality, type } = end.address;
  return {
    id,
    name: locality === undefined ? name : `${name}, ${locality}`,
    disassembledName: name,
    type,
    coord: coordOf(end.address),
    ...(locality !== undefined && {
      parent: { ...suburbOf({ locality }), disassembledName: '' },
    }),
  };
}

function keyOf(end: Endpoint): string {
  if (end.kind === 'stop') return end.stop.id;
  return end.kind === 'point' ? end.point.id : end.address.id;
}

function pathDescriptions(walk: Walk, coords: [number, number][]): object[] {
  const duration = walk.arrivalSeconds - walk.departureSeconds;
  const distance = walkMetres(positionOf(walk.from), positionOf(walk.to));
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
