import type { Sections } from '../timetable/packed-timetable.ts';
import { createWater } from '../timetable/water.ts';
import { MODES } from '../transit/mode.ts';
import { distanceMetres, type Position } from '../transit/place.ts';
import type { Footpaths } from './raptor/lines.ts';

/** The longest walk from a position to a stop, and the longest journey on foot. */
export const REACH_METRES = 1000;
const MAX_METRES = 500;
/** Wharves have water between them, even if no ferry path is known. */
const MAX_WHARF_METRES = 150;
const FERRY = 1 << MODES.indexOf('ferry');
/** Streets are longer than the straight line. */
const DETOUR = 1.3;
const METRES_PER_SECOND = 1.2;
/** About 550 m, so that all stops within reach lie in the same cell or in an adjacent one. */
const CELLS_PER_DEGREE = 180;
const CELLS_AROUND = 100_000;
/** From a cell to itself and to those around it. */
const STEPS_AROUND = [-CELLS_AROUND, 0, CELLS_AROUND].flatMap((row) => [row - 1, row, row + 1]);

export function walkSeconds(metres: number): number {
  return Math.round((metres * DETOUR) / METRES_PER_SECOND);
}

/** The straight line that can be walked in this time; never longer than the longest walk of a journey. */
export function walkMetres(seconds: number): number {
  return Math.min(REACH_METRES, (seconds * METRES_PER_SECOND) / DETOUR);
}

/**
 * Returns the walks between served stops (`isServed`): within a station, and to nearby stops. No walk crosses the path of a
 * ferry.
 */
export function createFootpaths(
  { stopLat, stopLng, stopParent, stopModes, ferryWays }: Sections,
  isServed: (stop: number) => boolean,
): Footpaths {
  const isOverWater = createWater({ ferryWays });
  const cells = Map.groupBy([...stopLat.keys()].filter(isServed), (stop) => cellOf(positionOf(stop)));
  const first = [0];
  const targets: number[] = [];
  const seconds: number[] = [];
  for (const stop of stopLat.keys()) {
    if (isServed(stop)) addWalks(stop);
    first.push(targets.length);
  }
  return { first: Int32Array.from(first), targets: Int32Array.from(targets), seconds: Int32Array.from(seconds) };

  function addWalks(stop: number): void {
    const here = positionOf(stop);
    const cell = cellOf(here);
    for (const target of STEPS_AROUND.flatMap((step) => cells.get(cell + step) ?? [])) {
      const targetPosition = positionOf(target);
      const metres = distanceMetres(here, targetPosition);
      if (target === stop || metres > reachOf(stop, target)) continue;
      if (!isSameStation(stop, target) && isOverWater(here, targetPosition)) continue;
      targets.push(target);
      seconds.push(walkSeconds(metres));
    }
  }

  function positionOf(stop: number): Position {
    return [stopLat[stop] as number, stopLng[stop] as number];
  }

  function reachOf(stop: number, other: number): number {
    const areWharves = stopModes[stop] === FERRY && stopModes[other] === FERRY;
    return areWharves && !isSameStation(stop, other) ? MAX_WHARF_METRES : MAX_METRES;
  }

  function isSameStation(stop: number, other: number): boolean {
    return (stopParent[stop] as number) >= 0 && stopParent[stop] === stopParent[other];
  }
}

function cellOf([lat, lng]: Position): number {
  // A degree of longitude is shorter here.
  return Math.floor(lat * CELLS_PER_DEGREE) * CELLS_AROUND + Math.floor(lng * CELLS_PER_DEGREE * 0.8);
}
