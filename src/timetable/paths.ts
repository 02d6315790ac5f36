import { open } from 'node:fs/promises';
import { Int32Column } from '../core/columns.ts';
import type { Position } from '../transit/place.ts';
import type { CutPath } from './import/cut-shape.ts';

/**
 * The paths of patterns, in a file beside the timetable. The timetable has the position of each record. A record is 32-bit
 * numbers: the index of the point of each call, then the points as latitudes and longitudes in millionths of a degree.
 */

const MICRO = 1e6;

/** The path file that belongs to the timetable at `path`. */
export const pathsFileOf = (path: string): string => `${path.replace(/\.bin$/, '')}.paths`;

export function packPath({ calls, points }: CutPath): Int32Column {
  return Int32Column.from([...calls, ...points.flatMap(({ lat, lng }) => [lat, lng])]);
}

/** Reads the path between two calls of a pattern from its record in the file. Null if the file is missing or damaged. */
export async function loadPath(
  file: string,
  record: { start: number; end: number; calls: number },
  { first, last }: { first: number; last: number },
): Promise<Position[] | null> {
  const bytes = await loadBytes(file, record).catch(() => null);
  if (!bytes) return null;
  const at = (number: number) => bytes.readInt32LE(4 * number);
  const points = (bytes.length / 4 - record.calls) / 2;
  const [from, to] = [at(first), at(last)];
  if (!(from >= 0 && from <= to && to < points)) return null;
  return Array.from({ length: to - from + 1 }, (_, index): Position => {
    const point = record.calls + 2 * (from + index);
    return [at(point) / MICRO, at(point + 1) / MICRO];
  });
}

async function loadBytes(file: string, { start, end }: { start: number; end: number }): Promise<Buffer | null> {
  const bytes = Buffer.alloc(end - start);
  const handle = await open(file);
  try {
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
    return bytesRead === bytes.length ? bytes : null;
  } finally {
    await handle.close();
  }
}
