// Follows the course of a line from stop to stop. Positions are [lat, lng].

/** In degrees, about 400 m. A course farther from a stop belongs to another branch. */
const TOO_FAR = 0.004;

/** Returns the part of the nearest course between two stops; straight if none has both in this order. */
export function partBetween(courses, from, to) {
  const ends = [from, to].map(({ lat, lng }) => [lat, lng]);
  const parts = courses
    .map((course) => ({ course, places: ends.map((end) => nearestOn(course, end)) }))
    .filter(({ places: [start, end] }) => start.place < end.place && Math.max(start.off, end.off) < TOO_FAR)
    .sort((a, b) => offOf(a) - offOf(b));
  if (parts.length === 0) return ends;
  const [{ course, places }] = parts;
  const between = course.filter((_, index) => index > places[0].place && index < places[1].place);
  return [places[0].at, ...between, places[1].at];
}

const offOf = ({ places: [start, end] }) => start.off + end.off;

/** Returns the position at a share of a path's length. */
export function positionAt(path, share) {
  const lengths = path.slice(1).map((point, index) => distance(path[index], point));
  let rest = share * lengths.reduce((sum, length) => sum + length, 0);
  for (const [index, length] of lengths.entries()) {
    if (rest <= length && length > 0) return between(path[index], path[index + 1], rest / length);
    rest -= length;
  }
  return path.at(-1);
}

/** Returns the nearest position on a course, its place as index and share, and its distance in degrees. */
function nearestOn(course, point) {
  let best = { off: Number.POSITIVE_INFINITY };
  for (const [index, start] of course.slice(0, -1).entries()) {
    const end = course[index + 1];
    const [y, x] = [end[0] - start[0], end[1] - start[1]];
    const length = x * x + y * y || 1;
    const part = ((point[0] - start[0]) * y + (point[1] - start[1]) * x) / length;
    const share = Math.min(1, Math.max(0, part));
    const at = between(start, end, share);
    const off = distance(at, point);
    if (off < best.off) best = { off, at, place: index + share };
  }
  return best;
}

function between(from, to, share) {
  return [0, 1].map((axis) => from[axis] + share * (to[axis] - from[axis]));
}

function distance(from, to) {
  return Math.hypot(from[0] - to[0], from[1] - to[1]);
}
