// Chooses the markers of a map that are drawn together, and those with room for a name. Positions are in pixels of the screen.

const CELL = 48;
const LETTER = 6.6;
const LINE = 18;
const MARKER = 14;

/**
 * Groups of what lies in the same cell of a grid; in the order in which their first members come.
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
 * Those whose name covers neither another marker nor a name that comes before it. A name stands to the right of its marker.
 * `others` are markers that have their names already.
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

function labelOf({ x, y, name }) {
  return box(x + MARKER, y - LINE / 2, name.length * LETTER, LINE);
}

function box(left, top, width, height) {
  return { left, top, right: left + width, bottom: top + height };
}

function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
