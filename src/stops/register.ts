import { DAY_MS } from '../core/clock.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Timetable, TimetableLine, TimetableStop } from '../timetable/timetable.ts';
import { type CurrentTimetable, noTimetable } from '../timetable/update/keep-current.ts';
import { FRESHNESS_WINDOWS, type Freshness, freshFrom } from '../transit/freshness.ts';
import type { MissingTimetable } from '../transit/missing-timetable.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { boundsAround, distanceMetres } from '../transit/place.ts';
import type { Bounds } from '../transit/region.ts';
import { noPlannerStops, type PlannerStops } from './named-stops.ts';
import type { StopRecord, StopTable } from './table.ts';

/** A line that departs from a stop. */
export interface StopLine {
  /** Null unless it is in the timetable. */
  lineId: string | null;
  route: string;
  mode: Mode;
  headsigns: string[];
  /** The trip planner's network numbers, because two regions may have buses with the same number. Empty if unknown. */
  networks: number[];
}

/** A stop is served if something departs within this time. */
const SERVED_WITHIN_MS = 7 * DAY_MS;
/** Only the most frequent headsigns of a line are listed. */
const MAX_HEADSIGNS = 10;

export type StopLookup = Pick<StopRegister, 'get'>;

/**
 * The stops that are known without a request: the timetable's stops; stops, groups of poles and suburbs that only the trip
 * planner has; and a bundled list, which is loaded when first needed.
 */
export class StopRegister implements Iterable<StopRecord> {
  readonly #load: () => StopTable;
  #builtIn: StopTable | null = null;
  readonly #timetable: CurrentTimetable;
  readonly #planner: PlannerStops;

  constructor(
    load: () => StopTable,
    {
      timetable = noTimetable,
      planner = noPlannerStops,
    }: { timetable?: CurrentTimetable; planner?: PlannerStops } = {},
  ) {
    this.#load = load;
    this.#timetable = timetable;
    this.#planner = planner;
    const useMembers = (current: Timetable | null) => current?.useMembers((stopId) => planner.membersOf(stopId));
    useMembers(timetable.get());
    timetable.onChange(useMembers);
  }

  get timetable(): Timetable | null {
    return this.#timetable.get();
  }

  get missingTimetable(): MissingTimetable {
    return this.#timetable.missing();
  }

  /** When the timetable was imported, else the date of the bundled list, in milliseconds since 1970. */
  get updatedAt(): number {
    return this.timetable?.importedAt ?? Date.parse(this.#list.source.dataDate);
  }

  get(stopId: string): StopRecord | null {
    const { timetable } = this;
    const index = timetable?.findStop(stopId) ?? null;
    return timetable && index !== null ? this.#complete(timetable, timetable.stop(index)) : this.#getListed(stopId);
  }

  *[Symbol.iterator](): Generator<StopRecord> {
    const { timetable } = this;
    for (let index = 0; timetable && index < timetable.stopCount; index++) {
      yield this.#complete(timetable, timetable.stop(index));
    }
    yield* this.#othersOf(this.#planner.table, this.#list, timetable);
  }

  /** The stops within the radius, closest first. */
  near(lat: number, lng: number, radiusMetres: number): { stop: StopRecord; distanceMetres: number }[] {
    return [...this.inBox(boundsAround([lat, lng], radiusMetres))]
      .map((stop) => ({ stop, distanceMetres: distanceMetres([lat, lng], [stop.lat, stop.lng]) }))
      .filter((nearby) => nearby.distanceMetres <= radiusMetres)
      .sort((a, b) => a.distanceMetres - b.distanceMetres || compareIds(a.stop, b.stop));
  }

  /** The stops within these bounds, in no particular order. */
  *inBox(bounds: Bounds): Generator<StopRecord> {
    const { timetable } = this;
    yield* this.plannedInBox(bounds);
    const { table } = this.#planner;
    yield* this.#othersOf(table.inBox(bounds), this.#list.inBox(bounds), timetable);
  }

  /** Lists only the timetable's stops. */
  *plannedInBox(bounds: Bounds): Generator<StopRecord> {
    const { timetable } = this;
    if (timetable) for (const index of timetable.inBox(bounds)) yield this.#complete(timetable, timetable.stop(index));
  }

  /**
   * The indices of the timetable stops that make up this one: the platforms of a station, with the stands that only the trip
   * planner groups under it, or the poles of a group. For a platform or pole, just itself. Empty if the timetable has none.
   */
  partsOf(stopId: string): readonly number[] {
    const { timetable } = this;
    if (!timetable) return [];
    const index = timetable.findStop(stopId);
    const isPart = index !== null && timetable.stop(index).parent !== null;
    return isPart ? [index] : timetable.boardStopsOf(stopId);
  }

  /**
   * The lines that depart from the stop within a week; null if the timetable does not have it or does not cover the next day.
   */
  linesOf(stopId: string, now: number): StopLine[] | null {
    const covered = this.#coveredParts(stopId, now);
    const lines = covered?.timetable.linesAt(covered.parts, now, now + SERVED_WITHIN_MS);
    return lines ? mergeLines(lines) : null;
  }

  /** The modes that depart from the stop within a week; null as in `linesOf`. */
  modesOf(stopId: string, now: number): Mode[] | null {
    const covered = this.#coveredParts(stopId, now);
    return covered ? covered.timetable.modesAt(covered.parts, now, now + SERVED_WITHIN_MS) : null;
  }

  /** False if the stop is listed but nothing in the timetable serves it; true while there is no timetable. */
  isServed(stopId: string): boolean {
    const { timetable } = this;
    if (!timetable) return true;
    const parts = this.partsOf(stopId);
    // The timetable lacks Canberra's stops, which the trip planner has.
    if (parts.length === 0) return this.#planner.table.get(stopId) !== null;
    return parts.some((index) => timetable.modesOf(index).length > 0);
  }

  /** Calls `listener` when the timetable or the trip planner's stops have been replaced. */
  onChange(listener: () => void): void {
    this.#timetable.onChange(listener);
    this.#planner.onChange(listener);
  }

  get #list(): StopTable {
    this.#builtIn ??= this.#load();
    return this.#builtIn;
  }

  #coveredParts(stopId: string, now: number) {
    const { timetable } = this;
    const parts = this.partsOf(stopId);
    const isCovered = parts.length > 0 && timetable?.covers(parts, now, now + DAY_MS);
    return timetable && isCovered ? { timetable, parts } : null;
  }

  /** The stop as the trip planner names it, with further data from the bundled list. */
  #getListed(stopId: string): StopRecord | null {
    const plannerStop = this.#planner.table.get(stopId);
    const bundledStop = this.#list.get(stopId);
    return plannerStop && bundledStop
      ? { ...bundledStop, ...plannerStop, modes: sortModes([...plannerStop.modes, ...bundledStop.modes]) }
      : (plannerStop ?? bundledStop);
  }

  #complete(timetable: Timetable, stop: TimetableStop): StopRecord {
    const { id, name, platform, lat, lng, modes, isWheelchairAccessible } = stop;
    const { table } = this.#planner;
    const plannerStop = table.get(id);
    const parentId = stop.parent === null ? (plannerStop?.parent_id ?? null) : timetable.stop(stop.parent).id;
    const suburb = plannerStop?.suburb || (parentId && table.get(parentId)?.suburb) || '';
    return {
      stop_id: id,
      name: platform === null ? name : `${name}, ${platform}`,
      suburb,
      lat,
      lng,
      modes: sortModes([...modes, ...(plannerStop?.modes ?? [])]),
      parent_id: parentId,
      is_platform: parentId !== null,
      ...(isWheelchairAccessible !== null && { wheelchair: isWheelchairAccessible }),
    };
  }

  /** Stops that the timetable lacks; `listed` are the stops of the bundled list. */
  *#othersOf(
    plannerStops: Iterable<StopRecord>,
    listed: Iterable<StopRecord>,
    timetable: Timetable | null,
  ): Generator<StopRecord> {
    const isMissing = ({ stop_id }: StopRecord) => (timetable?.findStop(stop_id) ?? null) === null;
    for (const stop of plannerStops) if (isMissing(stop)) yield this.#getListed(stop.stop_id) ?? stop;
    for (const stop of listed) if (isMissing(stop) && !this.#planner.table.get(stop.stop_id)) yield stop;
  }
}

/** Merges lines with the same mode and route into one entry. */
export function mergeLines(
  lines: readonly (Pick<TimetableLine, 'route' | 'mode' | 'network' | 'headsigns'> & Pick<StopLine, 'lineId'>)[],
): StopLine[] {
  return [...Map.groupBy(lines, ({ mode, route }) => `${mode} ${route}`).values()].map((variants) => {
    const { lineId, route, mode } = variants[0] as (typeof variants)[number];
    const headsigns = [...new Set(variants.flatMap((line) => line.headsigns))].slice(0, MAX_HEADSIGNS);
    return { lineId, route, mode, headsigns, networks: variants.flatMap(({ network }) => network ?? []) };
  });
}

function compareIds(a: StopRecord, b: StopRecord): number {
  return a.stop_id < b.stop_id ? -1 : 1;
}

/** The freshness of data from the register. Its age is that of the data, and it is fresh for a day from now. */
export function freshnessOfList({ updatedAt }: StopRegister, now: number): Freshness {
  return freshFrom(now, FRESHNESS_WINDOWS.stops, Math.min(updatedAt, now));
}

/**
 * The freshness of register data that replaces a failed response: stale, with the age of the data. Rethrows any error that is not
 * an `ApiError`.
 */
export function freshnessInPlaceOf(error: unknown, register: StopRegister, now: number): Freshness {
  if (!(error instanceof ApiError)) throw error;
  const listFreshness = freshnessOfList(register, now);
  const { retrievedAt } = listFreshness;
  return { ...listFreshness, freshUntil: retrievedAt, staleUntil: retrievedAt, shortage: shortageOf(error) };
}

/** The notice beside register data that replaces a failed response. */
export const STORED_STOPS_NOTICE = { text: 'Transport for NSW is unavailable. These stops come from a stored list.' };
export const NO_STORED_STOP_NOTICE = {
  text: 'Transport for NSW is unavailable, and the stored list has no such stop.',
};

/** The `shortage` for a failed upstream request. */
export function shortageOf({ isBudgetExhausted }: ApiError): Freshness['shortage'] {
  return isBudgetExhausted ? 'busy' : 'failing';
}
