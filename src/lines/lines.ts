import { beyondTimetable, noTimetable, unknownLine, unknownStop } from '../errors/messages.ts';
import type { StopRegister } from '../stops/register.ts';
import { toDayNumber } from '../timetable/service-day.ts';
import type { Timetable } from '../timetable/timetable.ts';
import { isOnRoad } from '../transit/line-id.ts';
import type { Mode } from '../transit/mode.ts';
import { isOneSlipAway } from '../transit/parameter.ts';
import type { Position } from '../transit/place.ts';
import { type Bounds, withoutG } from '../transit/region.ts';
import { drawCourse } from './course.ts';
import { type LineDirection, loadDirections } from './directions.ts';
import { type IndexedLine, indexLines, type Line, searchFor } from './line-index.ts';

/** How many unknown lines notices name, and the most characters of a name. */
const MAX_NAMED = 5;
const MAX_NAME = 50;
/** Names that can be sent in a header as they are. */
const PLAIN = /^[\x20-\x7e]{1,50}$/;
/** How many lines are suggested for an unknown one. */
const MAX_NEAR = 3;
const OR = new Intl.ListFormat('en-AU', { type: 'disjunction' });

/** The data from which the line of a ride or departure is found. `lineId` is null or missing if the ride is the trip planner's. */
interface LineOf {
  lineId?: string | null | undefined;
  mode: Mode | 'walk';
  route: string | null;
  runId: string | null;
  stopId: string;
}

type LineStops = Pick<StopRegister, 'timetable' | 'missingTimetable' | 'get' | 'partsOf'>;

/** The lines of the current timetable, without upstream calls. */
export class LineCatalogue {
  readonly #stops: LineStops;

  constructor(stops: LineStops) {
    this.#stops = stops;
  }

  /** The lines that fit all conditions, best match first, then by mode and name. Throws for an unknown stop. */
  list(conditions: {
    q?: string | undefined;
    modes: readonly Mode[];
    stop?: string | undefined;
    bbox?: Bounds | undefined;
  }): IndexedLine[] {
    const { timetable } = this;
    const { lines } = indexLines(timetable);
    const [atStop, inBox] = [
      conditions.stop === undefined ? null : this.#linesAt(this.#partsOf(conditions.stop)),
      conditions.bbox && this.#linesAt(timetable.inBox(conditions.bbox)),
    ];
    const isWanted = (line: IndexedLine) =>
      conditions.modes.includes(line.mode) && (atStop?.has(line) ?? true) && (inBox?.has(line) ?? true);
    const matches = lines.filter(isWanted);
    if (conditions.q === undefined) return matches;
    const ranks = Map.groupBy(matches, searchFor(conditions.q));
    return [0, 1, 2].flatMap((rank) => ranks.get(rank) ?? []);
  }

  /** Whether a stop is known. True while there is no timetable, because other sources know more stops. */
  hasStop(stopId: string): boolean {
    const { timetable } = this.#stops;
    return !timetable || this.#stops.partsOf(withoutG(stopId)).length > 0 || this.#stops.get(stopId) !== null;
  }

  /** The lines with this ID or short name. Throws if there is none. */
  listNamed(name: string): readonly Line[] {
    const found = indexLines(this.timetable).byName.get(name.toUpperCase());
    if (!found) throw unknownLine(name);
    return found;
  }

  /** A notice for each name or ID that no line of the timetable has; none while there is no timetable. */
  noticesOfUnknown(names: readonly string[] = []): { text: string }[] {
    const { timetable } = this.#stops;
    if (!timetable) return [];
    const { lines, byName } = indexLines(timetable);
    const unknown = names.filter((name) => !byName.has(name.toUpperCase()));
    return unknown.slice(0, MAX_NAMED).map((name) => {
      const q = encodeURIComponent(name.slice(0, MAX_NAME).toWellFormed());
      const near = [...new Set(lines.map(({ route }) => route))]
        .filter((route) => PLAIN.test(route) && isOneSlipAway(name, route.toUpperCase()))
        .slice(0, MAX_NEAR);
      const meant = near.length > 0 ? `; did you mean ${OR.format(near)}?` : '.';
      return { text: `No line ${PLAIN.test(name) ? name : q}${meant} Find lines with /v1/lines?q=${q}.` };
    });
  }

  /**
   * The ID of the line of a ride or departure: that of its run, else that of the only line with its short name. On roads that
   * line must also call at the stop, because operators elsewhere may use the same number. Null if there is none.
   */
  findIdOf({ lineId, mode, route, runId, stopId }: LineOf): string | null {
    const { timetable } = this.#stops;
    if (lineId || !timetable || mode === 'walk' || route === null) return lineId ?? null;
    const { byName, byPattern } = indexLines(timetable);
    const trips = runId === null ? [] : timetable.listTripsBetween(runId);
    const ofRun = trips.map((trip) => byPattern[timetable.patternOf(trip)]).find((line) => line?.mode === mode);
    if (ofRun) return ofRun.id;
    const name = route.toUpperCase();
    const named = byName.get(name)?.filter((line) => line.mode === mode && line.route.toUpperCase() === name) ?? [];
    const here = isOnRoad(mode) ? this.#linesAt(this.#stops.partsOf(stopId)) : null;
    const [only, ...others] = here ? named.filter((line) => here.has(line)) : named;
    return only && others.length === 0 ? only.id : null;
  }

  /** Throws for an unknown line. */
  get(id: string): IndexedLine {
    const line = indexLines(this.timetable).byId.get(id.toUpperCase());
    if (!line) throw unknownLine(id);
    return line;
  }

  /**
   * A line, and its directions on the service day of a date (`YYYYMMDD`). Throws for an unknown line, and for a day that the
   * timetable does not cover.
   */
  async load(id: string, date: string): Promise<{ line: Line; directions: LineDirection[] }> {
    const { timetable } = this;
    const line = this.get(id);
    const day = toDayNumber(date) as number;
    const files = [...new Set(line.patterns.map((pattern) => timetable.routeOf(pattern).file))];
    if (!files.every((file) => timetable.hasDay(file, day))) throw beyondTimetable(date, timetable.lastDay(files));
    return { line, directions: await loadDirections(timetable, line.patterns, day) };
  }

  /** Draws the course of a direction that was loaded from the current timetable. */
  draw({ patterns }: LineDirection): Promise<Position[][]> {
    return drawCourse(this.timetable, patterns);
  }

  /** Throws `SERVICE_UNAVAILABLE` while there is no timetable. */
  get timetable(): Timetable {
    const { timetable } = this.#stops;
    if (timetable) return timetable;
    throw noTimetable(this.#stops.missingTimetable);
  }

  #linesAt(stops: readonly number[]): ReadonlySet<IndexedLine | undefined> {
    const { timetable } = this;
    const { byPattern } = indexLines(timetable);
    return new Set(stops.flatMap((stop) => Array.from(timetable.patternsAt(stop), (pattern) => byPattern[pattern])));
  }

  #partsOf(stopId: string): readonly number[] {
    const parts = this.#stops.partsOf(stopId);
    if (parts.length === 0 && !this.#stops.get(stopId)) throw unknownStop(stopId);
    return parts;
  }
}
