import { Int32Column, Uint32Column } from '../../core/columns.ts';
import { createNumbers, type Numbers } from '../../core/growing-numbers.ts';
import type { LeftOutCounter } from './left-out.ts';
import { type ScheduleShapes, UnreadableFile } from './schedule-file.ts';
import { simplify } from './simplify.ts';
import type { ScheduleZip } from './zip.ts';

/** The limit of points of one shape in the file. Upstream's longest, of a coach, has about 20,000. */
const MAX_POINTS = 200_000;
/** The limit of points of all simplified shapes of a file. */
const MAX_KEPT = 4_000_000;
const MICRO = 1e6;
/** Larger distances do not fit into 32 bits when converted by `toDistance`. */
const MAX_DISTANCE = 2e6;

const NO_SHAPES: ScheduleShapes = {
  ids: new Map(),
  start: new Int32Column(1),
  lat: new Int32Column(),
  lng: new Int32Column(),
  distance: new Int32Column(),
  pointsRead: new Int32Column(),
};

/**
 * Reads the shapes of shapes.txt, and simplifies each one while it reads. If the file is missing or broken, there are no shapes.
 */
export async function loadShapes(zip: ScheduleZip, leftOut: LeftOutCounter): Promise<ScheduleShapes> {
  try {
    return await loadShapeTable(zip, leftOut);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    leftOut.add('shapes that cannot be read');
    return NO_SHAPES;
  }
}

async function loadShapeTable(zip: ScheduleZip, leftOut: LeftOutCounter): Promise<ScheduleShapes> {
  const ids = new Map<string, number>();
  const [seenIds, scatteredIds] = [new Set<string>(), new Set<string>()];
  const starts = [0];
  const pointsRead: number[] = [];
  const keptPoints = createNumbers(['lat', 'lng', 'distance']);
  const shape = { id: '', ...createNumbers(['lat', 'lng', 'distance', 'sequence']) };
  const table = {
    name: 'shapes.txt',
    required: ['shape_id', 'shape_pt_lat', 'shape_pt_lon', 'shape_pt_sequence'],
    optional: ['shape_dist_traveled'],
  } as const;

  function finishShape(): void {
    const { length } = shape.sequence;
    if (seenIds.has(shape.id)) scatteredIds.add(shape.id);
    seenIds.add(shape.id);
    if (length > MAX_POINTS) leftOut.add('shape of too many points');
    else if (length > 1 && !scatteredIds.has(shape.id)) {
      const order = sortedOrder(shape.sequence);
      const [lat, lng] = [sortBy(shape.lat, order), sortBy(shape.lng, order)];
      const distance = sortBy(shape.distance, order);
      for (const point of simplify(lat, lng)) {
        keptPoints.lat.push(lat.valueAt(point));
        keptPoints.lng.push(lng.valueAt(point));
        keptPoints.distance.push(distance.valueAt(point));
      }
      if (keptPoints.lat.length > MAX_KEPT) throw new UnreadableFile(`shapes.txt has more than ${MAX_KEPT} points`);
      ids.set(shape.id, pointsRead.length);
      starts.push(keptPoints.lat.length);
      pointsRead.push(length);
    }
  }

  await zip.loadRows(table, (row, at) => {
    const id = row.text(at.shape_id);
    if (id !== shape.id) {
      finishShape();
      shape.id = id;
      for (const column of [shape.lat, shape.lng, shape.distance, shape.sequence]) column.length = 0;
    }
    const [lat, lng] = [row.decimal(at.shape_pt_lat), row.decimal(at.shape_pt_lon)];
    const sequence = row.integer(at.shape_pt_sequence);
    if (!(Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && sequence >= 0)) return leftOut.add('point without position');
    if (shape.sequence.length > MAX_POINTS) return;
    const distance = row.decimal(at.shape_dist_traveled);
    shape.lat.push(Math.round(lat * MICRO));
    shape.lng.push(Math.round(lng * MICRO));
    shape.distance.push(toDistance(distance));
    shape.sequence.push(sequence);
  });
  finishShape();
  for (const id of scatteredIds) {
    ids.delete(id);
    leftOut.add('shape whose points are not together');
  }
  return {
    ids,
    start: Int32Column.from(starts),
    lat: keptPoints.lat.used,
    lng: keptPoints.lng.used,
    distance: keptPoints.distance.used,
    pointsRead: Int32Column.from(pointsRead),
  };
}

/** Converts a `shape_dist_traveled` to thousandths of its unit; -1 if there is none. */
export function toDistance(distance: number): number {
  return distance >= 0 && distance < MAX_DISTANCE ? Math.round(distance * 1000) : -1;
}

/** Null if the points are already in order. */
function sortedOrder(sequence: Numbers): Uint32Column | null {
  const { values, length } = sequence;
  for (let index = 1; index < length; index++) {
    if (values.valueAt(index) >= values.valueAt(index - 1)) continue;
    const order = Uint32Column.from({ length }, (_, point) => point);
    return order.sort((a, b) => values.valueAt(a) - values.valueAt(b) || a - b);
  }
  return null;
}

function sortBy({ used }: Numbers, order: Uint32Column | null): Int32Column {
  return order ? Int32Column.from(order, (point) => used.valueAt(point)) : used;
}
