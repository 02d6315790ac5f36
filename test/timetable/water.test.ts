import { describe, expect, it } from 'vitest';
import { Int32Column } from '#src/core/columns.ts';
import type { Position } from '#src/transit/place.ts';
import { HARBOUR, harbourFile } from '../support/harbour.ts';
import { timetableOf } from '../support/timetable.ts';

const timetable = timetableOf(...harbourFile());
const isOverWater = (from: Position, to: Position) => timetable.isOverWater(from, to);

describe('straight walks near water', () => {
  it.each<[string, Position, Position]>([
    ['from Circular Quay to Milsons Point', HARBOUR.circularQuay, HARBOUR.milsonsPoint],
    ['from Kirribilli to the Opera House', [-33.8525, 151.213], [-33.8568, 151.2153]],
    ['from Balmain East to Barangaroo', [-33.8572, 151.1965], [-33.859, 151.2012]],
    ['from Manly to Watsons Bay', HARBOUR.manly, HARBOUR.watsonsBay],
  ])('a straight walk %s is over water, in both directions', (_, from, to) => {
    expect([isOverWater(from, to), isOverWater(to, from)]).toEqual([true, true]);
  });

  it.each<[string, Position, Position]>([
    ['round Circular Quay', [-33.8612, 151.2098], [-33.8613, 151.2133]],
    ['from a wharf inland', HARBOUR.circularQuay, [-33.8637, 151.2113]],
    ['between two wharves of Circular Quay', HARBOUR.circularQuay, [-33.8609, 151.2105]],
    ['along Barangaroo', [-33.859, 151.2012], [-33.8642, 151.2025]],
    ['to the wharf at Barangaroo', [-33.8642, 151.2025], HARBOUR.barangaroo],
    ['across the Corso of Manly', HARBOUR.manly, [-33.7985, 151.288]],
    ['where no ferry goes', [-33.9, 151.1], [-33.905, 151.104]],
  ])('a straight walk %s is on land', (_, from, to) => {
    expect([isOverWater(from, to), isOverWater(to, from)]).toEqual([false, false]);
  });
});

it('footpaths follow the shore and never cross water', () => {
  const { walkStart, walkStop } = timetable.sections;
  const targetsOf = (id: string) => {
    const stop = timetable.findStop(id) as number;
    return [...walkStop.subarray(walkStart[stop], walkStart[stop + 1])]
      .map((target) => timetable.stop(target).id)
      .sort();
  };
  expect(targetsOf('balmain-bus')).toEqual(['BE']);
  expect(targetsOf('barangaroo-north')).toEqual(['barangaroo-south']);
});

it('a ferry route without a shape marks nothing as water', () => {
  const [ferries, buses] = harbourFile();
  const shapes = { ...ferries.shapes, pointsRead: Int32Column.from(ferries.shapes.pointsRead, () => 3) };
  const unknown = timetableOf({ ...ferries, shapes }, buses);
  expect(unknown.isOverWater(HARBOUR.circularQuay, HARBOUR.milsonsPoint)).toBe(false);
});
