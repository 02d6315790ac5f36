import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Int32Column } from '#src/core/columns.ts';
import { cutShape } from '#src/timetable/import/cut-shape.ts';
import { LeftOutCounter } from '#src/timetable/import/left-out.ts';
import { loadRows } from '#src/timetable/import/rows.ts';
import { loadShapes } from '#src/timetable/import/shapes.ts';
import { simplify } from '#src/timetable/import/simplify.ts';
import type { ScheduleZip } from '#src/timetable/import/zip.ts';

const HEADER = 'shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence,shape_dist_traveled\n';
/** A thousandth of a degree is about 111 m. */
const RIGHT_ANGLE = 'L,-33.8,151.2,1,0\nL,-33.81,151.2,2,1100\nL,-33.81,151.21,3,2000\n';

async function read(rows: string, header = HEADER) {
  const leftOut = new LeftOutCounter();
  async function* chunks() {
    yield Buffer.from(header + rows);
  }
  const zip: Pick<ScheduleZip, 'loadRows'> = {
    loadRows: (table, onRow) => loadRows(chunks(), { ...table, maxRows: 1000, size: 0 }, onRow),
  };
  return { shapes: await loadShapes(zip as ScheduleZip, leftOut), leftOut: leftOut.toJSON() };
}

/** The points of the path that follows the shape through these stops. */
async function cut(rows: string, stops: readonly (readonly [lat: number, lng: number, distance?: number])[]) {
  const { shapes } = await read(rows);
  const micro = (numbers: number[]) => Int32Column.from(numbers, (number) => Math.round(number * 1e6));
  const path = cutShape(shapes, 0, {
    lat: micro(stops.map(([lat]) => lat)),
    lng: micro(stops.map(([, lng]) => lng)),
    distance: Int32Column.from(stops, ([, , distance = -0.001]) => distance * 1000),
  });
  return path && { calls: path.calls, points: path.points.map(({ lat, lng }) => [lat / 1e6, lng / 1e6]) };
}

describe('the shapes of a file', () => {
  it('shape points are sorted by sequence, whatever the order of the rows', async () => {
    const { shapes } = await read(RIGHT_ANGLE.trim().split('\n').reverse().join('\n'));
    expect([...shapes.ids]).toEqual([['L', 0]]);
    expect([...shapes.lat]).toEqual([-33_800_000, -33_810_000, -33_810_000]);
    expect([...shapes.distance]).toEqual([0, 1_100_000, 2_000_000]);
  });

  it('a shape whose rows are scattered over the file is left out and counted', async () => {
    const { shapes, leftOut } = await read(`${RIGHT_ANGLE}M,-33,151,1,\nM,-33.1,151,2,\nL,-33.9,151.2,4,2500\n`);
    expect([...shapes.ids.keys()]).toEqual(['M']);
    expect(leftOut).toEqual({ 'shape whose points are not together': 1 });
  });

  it('a shape skips points without a position', async () => {
    const { shapes, leftOut } = await read(`${RIGHT_ANGLE}L,far,151.21,4,\nL,-95,151.21,5,\nL,-33.9,,6,\n`);
    expect(shapes.lat).toHaveLength(3);
    expect(leftOut).toEqual({ 'point without position': 3 });
  });

  it('a file whose table of shapes is unreadable has no shapes', async () => {
    const { shapes, leftOut } = await read(RIGHT_ANGLE, 'shape_id,lat,lng\n');
    expect(shapes.ids.size).toBe(0);
    expect(leftOut).toEqual({ 'shapes that cannot be read': 1 });
  });

  it('a simplified shape is at most seven metres from the original', () => {
    const step = fc.tuple(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -300, max: 300 }));
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 2500 }), (steps) => {
        let [lat, lng] = [-33_800_000, 151_200_000];
        const points = steps.map(([north, east]) => {
          lat += north;
          lng += east;
          return [lat, lng] as const;
        });
        const kept = simplify(
          Int32Column.from(points, ([one]) => one),
          Int32Column.from(points, ([, one]) => one),
        );
        expect([kept[0], kept.at(-1)]).toEqual([0, points.length - 1]);
        const at = (point: number) => points[point] as Point;
        for (const [index, end] of kept.entries()) {
          for (let point = (kept[index - 1] ?? end) + 1; point < end; point++)
            expect(metresFrom(at(point), at(kept[index - 1] as number), at(end))).toBeLessThan(7.1);
        }
      }),
      { numRuns: 30 },
    );
  });
});

type Point = readonly [number, number];

function metresFrom(point: Point, start: Point, end: Point): number {
  const metres = ([lat, lng]: Point): Point => [lat * 0.1112, lng * 0.1112 * Math.cos(0.59)];
  const [[py, px], [sy, sx], [ey, ex]] = [metres(point), metres(start), metres(end)] as const;
  const [dx, dy, x, y] = [ex - sx, ey - sy, px - sx, py - sy];
  const along = Math.min(1, Math.max(0, (x * dx + y * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - along * dx, y - along * dy);
}

describe('the path of a trip along its shape', () => {
  it('a path is cut at the calls, each moved to the line, with the bends in between', async () => {
    const path = await cut(RIGHT_ANGLE, [
      [-33.802, 151.2005],
      [-33.808, 151.1995],
      [-33.8095, 151.205],
    ]);
    expect(path).toEqual({
      calls: [0, 1, 3],
      points: [
        [-33.802, 151.2],
        [-33.808, 151.2],
        [-33.81, 151.2],
        [-33.81, 151.205],
      ],
    });
  });

  it('a path passes a stop twice when the line does', async () => {
    const loop = 'O,-33.8,151.2,1,\nO,-33.8,151.21,2,\nO,-33.81,151.21,3,\nO,-33.81,151.2,4,\nO,-33.8,151.2,5,\n';
    const path = await cut(loop, [
      [-33.8, 151.2],
      [-33.81, 151.205],
      [-33.8, 151.2],
    ]);
    expect(path?.calls).toEqual([0, 3, 5]);
  });

  it('a path follows distances when trip and shape have them, into a side street and out again', async () => {
    const spur = 'S,-33.8,151.2,1,0\nS,-33.8,151.21,2,920\nS,-33.8,151.2,3,1840\nS,-33.81,151.2,4,2950\n';
    const stops = [
      [-33.8, 151.2, 0],
      [-33.8, 151.205, 1380],
      [-33.81, 151.2, 2950],
    ] as const;
    expect((await cut(spur, stops))?.points[1]).toEqual([-33.8, 151.21]);
    const wrong = stops.map(([lat, lng, distance]) => [lat, lng, distance / 10] as const);
    expect((await cut(spur, wrong))?.calls).toHaveLength(3);
  });

  it('a trip with a stop far from the line has no path', async () => {
    expect(
      await cut(RIGHT_ANGLE, [
        [-33.8, 151.2],
        [-33.85, 151.2],
      ]),
    ).toBeNull();
  });
});
