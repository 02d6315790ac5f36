import type { Timetable } from '../timetable/timetable.ts';
import { isOnRoad } from '../transit/line-id.ts';
import { MODES, type Mode } from '../transit/mode.ts';

/** What riders know as one line: all routes of the timetable with the same ID. */
export interface Line {
  id: string;
  /** Short name: "T1", "333" */
  route: string;
  name: string;
  mode: Mode;
  /** Null if unknown. */
  operator: string | null;
  /** The trip planner's `transportation.product.id`; null if uncertain. */
  network: number | null;
}

/** `patterns` are the patterns with trips; `text` is the searchable text, in lower case. */
export type IndexedLine = Line & { patterns: readonly number[]; text: string };

/** Made once for each timetable, at the first lookup. */
export interface LineIndex {
  /** Sorted by mode and short name. */
  lines: readonly IndexedLine[];
  /** By ID in capitals. */
  byId: ReadonlyMap<string, IndexedLine>;
  /** By ID and by short name, in capitals. Operators may have the same short names. */
  byName: ReadonlyMap<string, readonly IndexedLine[]>;
  byPattern: readonly (IndexedLine | undefined)[];
}

const indexes = new WeakMap<Timetable, LineIndex>();

/** The lines of a timetable. They are indexed once, in about 0.1 s for New South Wales. */
export function indexLines(timetable: Timetable): LineIndex {
  const index = indexes.get(timetable) ?? createIndex(timetable);
  indexes.set(timetable, index);
  return index;
}

function createIndex(timetable: Timetable): LineIndex {
  const { patternTrips } = timetable.sections;
  const tripsOf = (pattern: number) => patternTrips.valueAt(pattern + 1) - patternTrips.valueAt(pattern);
  const patterns = Array.from({ length: patternTrips.length - 1 }, (_, pattern) => pattern);
  const running = patterns.filter((pattern) => tripsOf(pattern) > 0);
  const groups = Map.groupBy(running, (pattern) => timetable.routeOf(pattern).lineId.toUpperCase());
  const lines = [...groups.values()]
    .map((linePatterns) =>
      toLine(
        timetable,
        linePatterns.toSorted((a, b) => tripsOf(b) - tripsOf(a)),
      ),
    )
    .map((line) => ({ line, key: sortKeyOf(line) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ line }) => line);
  const byPattern: IndexedLine[] = [];
  for (const line of lines) for (const pattern of line.patterns) byPattern[pattern] = line;
  const byId = new Map(lines.map((line) => [line.id.toUpperCase(), line]));
  const byName = Map.groupBy(lines, ({ route }) => route.toUpperCase());
  for (const [id, line] of byId) if (!byName.has(id)) byName.set(id, [line]);
  return { lines, byId, byName, byPattern };
}

/** `patterns` are sorted by their number of trips; the first one names the line. */
function toLine(timetable: Timetable, patterns: readonly number[]): IndexedLine {
  const main = timetable.routeOf(patterns[0] as number);
  const { lineId: id, mode, route, network } = main;
  const name = (isOnRoad(mode) && main.longName) || main.lineName || route;
  const operator = main.operator || null;
  const text = ` ${toWords(`${route} ${name} ${operator ?? ''} ${mode}`)}`;
  return { id, route, name, mode, operator, network, patterns, text };
}

/** Sorts by mode, then "T2" before "T10". A collator would take ten times as long. */
function sortKeyOf({ mode, route, id }: Line): string {
  return `${MODES.indexOf(mode)} ${route} ${id}`.replace(/\d+/g, (digits) => digits.padStart(8, '0'));
}

/**
 * Returns a function that ranks a line for a search: 0 if the text is its short name, 1 if its names, short name first, begin
 * with the text, 2 if they have all words of the text; null if it does not fit.
 */
export function searchFor(q: string): (line: IndexedLine) => number | null {
  const searchText = toWords(q).trim();
  const words = searchText.split(' ');
  return ({ route, text }) => {
    if (searchText === '') return null;
    if (text.startsWith(` ${searchText}`)) return route.length === searchText.length ? 0 : 1;
    return words.every((word) => text.includes(` ${word}`)) ? 2 : null;
  };
}

function toWords(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ');
}
