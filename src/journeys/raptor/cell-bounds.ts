import { CELL_UNIT_SECONDS, type MapCells } from '../../timetable/map-cells.ts';
import type { Walk } from './query.ts';
import { LONG } from './time-left.ts';

/** The cells of the map, seen in one direction: in mirrored lines, the destination is where real journeys begin. */
export interface CellBounds extends MapCells {
  isMirrored: boolean;
}

/**
 * Writes to `bounds`, for each stop, the least seconds to the destination for riders on board of a vehicle that calls there, and for
 * those who can board it there.
 */
export function boundByCells(
  bounds: Uint16Array,
  { stopCell, cellUnits, isMirrored }: CellBounds,
  egress: readonly Walk[],
) {
  const count = Math.sqrt(cellUnits.length);
  const [fromStep, toStep] = isMirrored ? [count, 1] : [1, count];
  const byCell = new Uint16Array(count).fill(LONG);
  for (const { stop, seconds } of egress) {
    const first = (stopCell[stop] as number) * toStep;
    for (let cell = 0; cell < count; cell++) {
      const left = (cellUnits[first + cell * fromStep] as number) * CELL_UNIT_SECONDS + seconds;
      if (left < (byCell[cell] as number)) byCell[cell] = left;
    }
  }
  for (let stop = 0; stop < bounds.length; stop++) bounds[stop] = byCell[stopCell[stop] as number] as number;
}
