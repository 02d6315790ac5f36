import { Int32Column } from '../../core/columns.ts';
import { Numbers } from '../../core/growing-numbers.ts';
import { MODES } from '../../transit/modes.ts';
import { distanceMetres, type Position } from '../../transit/position.ts';
import { walkSeconds } from '../../transit/walking.ts';
import type { Sections } from '../packed-timetable.ts';
import { createWater } from '../water.ts';

const MAX_METRES = 500;
/** The longest walk between wharves: there is water between them, even if no ferry path is known. */
const MAX_WHARF_METRES = 150;
const FERRY = 1 << MODES.indexOf('ferry');
/** About 550 m, so that all stops within reach lie in the same cell or in an adjacent one. */
const CELLS_PER_DEGREE = 180;
const CELLS_AROUND = 100_000;
/** Added to the number of a cell, these give the cell and the eight around it. */
const STEPS_AROUND = [-CELLS_AROUND, 0, CELLS_AROUND].flatMap((row) => [row - 1, row, row + 1]);

/**
 * Returns the walks between served stops: within a station, and to nearby stops. No walk crosses the path of a ferry. A run may
 * be moved today to a platform that no planned run uses, so all platforms of stations are served.
 */
export function createFootpaths({
  stopLat,
  stopLng,
  stopParent,
  stopModes,
  visitStart,
  ferryWays,
}: Pick<Sections, 'stopLat' | 'stopLng' | 'stopParent' | 'stopModes' | 'visitStart' | 'ferryWays'>) {
  const isOverWater = createWater({ ferryWays });
  const stops = Array.from(stopLat, (_, stop) => stop);
  const cells = Map.groupBy(stops.filter(isServed), (stop) => cellOf(positionOf(stop)));
  const walkStart = new Int32Column(stops.length + 1);
  const targets = new Numbers();
  const seconds = new Numbers();
  for (const stop of stops) {
    if (isServed(stop)) addWalks(stop);
    walkStart[stop + 1] = targets.length;
  }
  return {
    walkStart,
    walkStop: targets.used,
    walkSeconds: seconds.used,
  };

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

  function isServed(stop: number): boolean {
    return visitStart.valueAt(stop + 1) > visitStart.valueAt(stop) || stopParent.valueAt(stop) >= 0;
  }

  function positionOf(stop: number): Position {
    return [stopLat.valueAt(stop), stopLng.valueAt(stop)];
  }

  function reachOf(stop: number, other: number): number {
    const areWharves = stopModes[stop] === FERRY && stopModes[other] === FERRY;
    return areWharves && !isSameStation(stop, other) ? MAX_WHARF_METRES : MAX_METRES;
  }

  function isSameStation(stop: number, other: number): boolean {
    return stopParent.valueAt(stop) >= 0 && stopParent[stop] === stopParent[other];
  }
}

function cellOf([lat, lng]: Position): number {
  // A degree of longitude is shorter than one of latitude.
  return Math.floor(lat * CELLS_PER_DEGREE) * CELLS_AROUND + Math.floor(lng * CELLS_PER_DEGREE * 0.8);
}
