// Groups map markers, and chooses those with room for a label. Positions are screen pixels.

const CELL = 48;
const LETTER = 6.6;
const LINE = 18;
const MARKER = 14;

/**
 * Groups points in the same grid cell, in order of their first members.
 * @template Item
 * @param {{ x: number, y: number, item: Item }[]} points
 * @returns {{ x: number, y: number, items: Item[] }[]}
 */
export function groupByCell(points, cell = CELL) {
  const groups = new Map();
  for (const { x, y, item } of points) {
    const key = `${Math.floor(x / cell)} ${Math.floor(y / cell)}`;
    const group = groups.get(key);
    if (group) group.members.push({ x, y, item });
    else groups.set(key, { members: [{ x, y, item }] });
  }
  return [...groups.values()].map(({ members }) => ({
    x: members.reduce((sum, { x }) => sum + x, 0) / members.length,
    y: members.reduce((sum, { y }) => sum + y, 0) / members.length,
    items: members.map(({ item }) => item),
  }));
}

/**
 * Finds markers whose label covers neither another marker nor an earlier label. Labels are to the right of their markers.
 * `others` are already labelled.
 * @param {{ x: number, y: number, name: string }[]} markers
 * @param {{ x: number, y: number, name: string }[]} others
 * @returns {Set<number>} their indexes
 */
export function findRoomForNames(markers, others = []) {
  const taken = [...markers, ...others].map(({ x, y }) => box(x - MARKER, y - MARKER, 2 * MARKER, 2 * MARKER));
  for (const other of others) taken.push(labelOf(other));
  const named = new Set();
  for (const [index, marker] of markers.entries()) {
    const label = labelOf(marker);
    if (taken.some((other, otherIndex) => otherIndex !== index && overlap(label, other))) continue;
    taken.push(label);
    named.add(index);
  }
  return named;
}

/**
 * Finds places whose label covers no earlier label, in order of priority. Unlike a marker's, their labels are above all markers.
 * `others` are already labelled, or have no name.
 * @param {{ x: number, y: number, name: string }[]} places
 * @param {{ x: number, y: number, name: string }[]} others
 * @returns {Set<number>} their indexes
 */
export function findRoomAmongNames(places, others = []) {
  const taken = others.filter(({ name }) => name).map(labelOf);
  const named = new Set();
  for (const [index, place] of places.entries()) {
    const label = labelOf(place);
    if (taken.some((other) => overlap(label, other))) continue;
    taken.push(label);
    named.add(index);
  }
  return named;
}

function labelOf({ x, y, name }) {
  return box(x + MARKER, y - LINE / 2, name.length * LETTER, LINE);
}

function box(left, top, width, height) {
  return { left, top, right: left + width, bottom: top + height };
}

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
