import { describe, expect, it } from 'vitest';

interface Marker {
  x: number;
  y: number;
  name: string;
}
interface Clusters {
  groupByCell(points: { x: number; y: number; item: string }[]): { x: number; y: number; items: string[] }[];
  findRoomForNames(markers: Marker[], others?: Marker[]): Set<number>;
}

/** A browser script, which has no types. */
const path = '../../web/assets/explore/clusters.js';
const { groupByCell, findRoomForNames } = (await import(path)) as Clusters;

describe('markers on the map', () => {
  it('markers that are close form one cluster, in the middle of them', () => {
    const groups = groupByCell([
      { x: 10, y: 10, item: 'a' },
      { x: 20, y: 30, item: 'b' },
      { x: 200, y: 10, item: 'c' },
    ]);
    expect(groups).toEqual([
      { x: 15, y: 20, items: ['a', 'b'] },
      { x: 200, y: 10, items: ['c'] },
    ]);
  });

  it('a marker shows its name if it covers neither a marker nor another name', () => {
    const near = { x: 0, y: 0, name: 'Town Hall' };
    expect([...findRoomForNames([near, { x: 40, y: 0, name: 'Queen Victoria Building' }])]).toEqual([1]);
    expect([...findRoomForNames([near, { x: 0, y: 60, name: 'Gadigal' }])]).toEqual([0, 1]);
    expect([...findRoomForNames([near], [{ x: 0, y: 0, name: 'Town Hall' }])]).toEqual([]);
  });
});
