/** Gives the patterns their geometry: known pieces of way where there are some, straight lines elsewhere. */
import type { SandboxLine, SandboxPattern, SandboxPoint, SandboxStop } from '../network.ts';
import type { Track, Way } from './tracks.ts';

type Position = readonly [lat: number, lng: number];

const WAY_OF_CLASS: Readonly<Record<number, Way>> = { 1: 'rail', 2: 'metro', 5: 'road', 9: 'water' };

/** A way over several pieces is taken only where it is at most this much longer than the straight line. */
const LONGEST_DETOUR = 1.8;

const METRES_PER_DEGREE = 111_320;

export function layTracks(
  lines: readonly SandboxLine[],
  stops: readonly SandboxStop[],
  tracks: readonly Track[],
): SandboxLine[] {
  const points = new Map<string, { point: SandboxPoint; stop: string }>();
  for (const stop of stops) for (const point of stop.points) points.set(point.id, { point, stop: stop.id });
  const pieces = new Pieces(tracks);

  function lay(pattern: SandboxPattern, way: Way): SandboxPattern {
    const path: Position[] = [];
    let known = false;
    let before: string | undefined;
    for (const call of pattern.calls) {
      const here = points.get(call.point);
      if (!here) throw new Error(`no such point: ${call.point}`);
      const between = before === undefined ? null : pieces.between(way, before, here.stop);
      if (between) {
        known = true;
        // Its ends are a few metres from the very platforms, which stand in for them.
        path.push(...between.slice(1, -1));
      }
      path.push([here.point.lat, here.point.lng]);
      before = here.stop;
    }
    return known ? { ...pattern, path } : pattern;
  }

  return lines.map((line) => {
    const way = WAY_OF_CLASS[line.product.class];
    return way ? { ...line, patterns: line.patterns.map((pattern) => lay(pattern, way)) } : line;
  });
}

class Pieces {
  readonly #from = new Map<string, { to: string; path: Position[] }[]>();
  readonly #found = new Map<string, Position[] | null>();

  constructor(tracks: readonly Track[]) {
    for (const [way, from, to, text] of tracks) {
      const path = parse(text);
      this.#add(`${way} ${from}`, to, path);
      this.#add(`${way} ${to}`, from, path.toReversed());
    }
  }

  /** The way from one stop to another over as few pieces as can be; null where there is none without a detour. */
  between(way: Way, from: string, to: string): Position[] | null {
    const key = `${way} ${from} ${to}`;
    let path = this.#found.get(key);
    if (path === undefined) {
      path = this.#search(way, from, to);
      this.#found.set(key, path);
    }
    return path;
  }

  #add(key: string, to: string, path: Position[]): void {
    const others = this.#from.get(key);
    if (others) others.push({ to, path });
    else this.#from.set(key, [{ to, path }]);
  }

  #search(way: Way, from: string, to: string): Position[] | null {
    const seen = new Set([from]);
    let front: { at: string; path: Position[] }[] = [{ at: from, path: [] }];
    while (front.length > 0) {
      const next: typeof front = [];
      for (const { at, path } of front) {
        for (const piece of this.#from.get(`${way} ${at}`) ?? []) {
          if (seen.has(piece.to)) continue;
          seen.add(piece.to);
          const longer = [...path, ...piece.path];
          if (piece.to === to) return isDetour(longer) ? null : longer;
          next.push({ at: piece.to, path: longer });
        }
      }
      front = next;
    }
    return null;
  }
}

function parse(text: string): Position[] {
  return text.split(' ').map((pair) => {
    const [lat, lng] = pair.split(',').map(Number);
    if (lat === undefined || lng === undefined) throw new Error(`not a position: ${pair}`);
    return [lat, lng] as const;
  });
}

function isDetour(path: readonly Position[]): boolean {
  const first = path[0];
  const last = path.at(-1);
  if (!first || !last) return true;
  let length = 0;
  let before = first;
  for (const position of path) {
    length += metres(before, position);
    before = position;
  }
  return length > LONGEST_DETOUR * metres(first, last);
}

function metres(a: Position, b: Position): number {
  const eastward = (b[1] - a[1]) * Math.cos((a[0] * Math.PI) / 180);
  return Math.hypot(eastward, b[0] - a[0]) * METRES_PER_DEGREE;
}
