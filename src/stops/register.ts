import { DAY_MS } from '../clock.ts';
import { ApiError } from '../errors/api-error.ts';
import { createBoundedMap, ownText } from '../own-memory.ts';
import type { Freshness } from '../transit/freshness.ts';
import { sortModes } from '../transit/mode.ts';
import { boundsAround, distanceMetres } from '../transit/place.ts';
import type { StopRecord, StopTable } from './table.ts';

/** Stops that responses named and the table does not have, or has otherwise; each takes about 600 bytes. */
const MAX_LEARNED = 15_000;
/** A hundredth of a degree of latitude is 1.1 km: the cells in which learned stops are found again. */
const CELLS_PER_DEGREE = 100;

/** A stop as a response of upstream names it, which may be without its position. */
export type NamedStop = Omit<StopRecord, 'lat' | 'lng'> & { readonly lat: number | null; readonly lng: number | null };

/**
 * The stops that the service knows without asking: a table, which is loaded when it is first needed, completed by what
 * responses of upstream name. It is an index: that a stop is in it does not say that anything departs there.
 */
export class StopRegister implements Iterable<StopRecord> {
  readonly #load: () => StopTable;
  #table: StopTable | null = null;
  readonly #learned;
  /** Learned stops by the cell that they lie in. */
  readonly #cells = new Map<string, Map<string, StopRecord>>();
  readonly #listeners: ((stop: StopRecord | null) => void)[] = [];

  constructor(load: () => StopTable) {
    this.#load = load;
    this.#learned = createBoundedMap<StopRecord>('learned stops', MAX_LEARNED, (stop) => this.#leaveCell(stop));
  }

  /** The day of the table's data, "2026-08-21". */
  get dataDate(): string {
    return this.#data().source.dataDate;
  }

  /** The origin of the table's data, in words. */
  get source(): string {
    return this.#data().source.source;
  }

  get size(): number {
    const table = this.#data();
    return table.size + [...this.#learned.keys()].filter((stopId) => !table.get(stopId)).length;
  }

  get(stopId: string): StopRecord | null {
    return this.#learned.get(stopId) ?? this.#data().get(stopId);
  }

  /** The stop as the table has it, with the same name on every instance; null where the table does not have it. */
  getListed(stopId: string): StopRecord | null {
    return this.#data().get(stopId);
  }

  *[Symbol.iterator](): Generator<StopRecord> {
    for (const stop of this.#data()) yield this.#learned.peek(stop.stop_id) ?? stop;
    const table = this.#data();
    for (const stop of [...this.#learned.values()]) if (!table.get(stop.stop_id)) yield stop;
  }

  /** The nearest first. */
  near(lat: number, lng: number, radiusMetres: number): { stop: StopRecord; distanceMetres: number }[] {
    const { south, west, north, east } = boundsAround([lat, lng], radiusMetres);
    return [...this.inBox(south, west, north, east)]
      .map((stop) => ({ stop, distanceMetres: distanceMetres([lat, lng], [stop.lat, stop.lng]) }))
      .filter((found) => found.distanceMetres <= radiusMetres)
      .sort((one, other) => one.distanceMetres - other.distanceMetres || compareIds(one.stop, other.stop));
  }

  /** The stops within these bounds, in no order. */
  *inBox(south: number, west: number, north: number, east: number): Generator<StopRecord> {
    for (const stop of this.#data().inBox(south, west, north, east)) {
      if (!this.#learned.has(stop.stop_id)) yield stop;
    }
    for (const stop of this.#learnedAround(south, west, north, east)) {
      const isInside = stop.lat >= south && stop.lat <= north && stop.lng >= west && stop.lng <= east;
      if (isInside) yield stop;
    }
  }

  /** Takes over what the response says of the stop; what it does not say stays as it was. */
  learn(named: NamedStop): void {
    const known = this.get(named.stop_id);
    const lat = named.lat ?? known?.lat;
    const lng = named.lng ?? known?.lng;
    if (lat === undefined || lng === undefined || named.name === '') return;
    const stop: StopRecord = {
      stop_id: named.stop_id,
      name: named.name,
      suburb: named.suburb || (known?.suburb ?? ''),
      lat,
      lng,
      modes: sortModes([...(known?.modes ?? []), ...named.modes]),
      parent_id: named.parent_id ?? known?.parent_id ?? null,
      is_platform: named.is_platform,
      ...(known?.wheelchair !== undefined && { wheelchair: known.wheelchair }),
    };
    if (known && JSON.stringify(known) === JSON.stringify(stop)) return;
    this.#keep({
      ...stop,
      stop_id: ownText(stop.stop_id),
      name: ownText(stop.name),
      suburb: ownText(stop.suburb),
      parent_id: stop.parent_id && ownText(stop.parent_id),
    });
  }

  /** Takes the place of the table; what was learned stays. */
  replace(table: StopTable): void {
    this.#table = table;
    for (const listener of this.#listeners) listener(null);
  }

  /** Calls back with each stop that is learned, or learned anew, and with null when the table was replaced. */
  onChange(listener: (stop: StopRecord | null) => void): void {
    this.#listeners.push(listener);
  }

  #data(): StopTable {
    this.#table ??= this.#load();
    return this.#table;
  }

  #keep(stop: StopRecord): void {
    this.#learned.set(stop.stop_id, stop);
    const cell = nameCell(cellAlong(stop.lat), cellAlong(stop.lng));
    this.#cells.set(cell, (this.#cells.get(cell) ?? new Map()).set(stop.stop_id, stop));
    for (const listener of this.#listeners) listener(stop);
  }

  *#learnedAround(south: number, west: number, north: number, east: number): Generator<StopRecord> {
    const [rows, columns] = [cellAlong(north) - cellAlong(south) + 1, cellAlong(east) - cellAlong(west) + 1];
    if (rows * columns > this.#cells.size) {
      for (const stops of [...this.#cells.values()]) yield* stops.values();
      return;
    }
    for (let row = cellAlong(south); row <= cellAlong(north); row++) {
      for (let column = cellAlong(west); column <= cellAlong(east); column++) {
        yield* this.#cells.get(nameCell(row, column))?.values() ?? [];
      }
    }
  }

  #leaveCell(stop: StopRecord): void {
    const cell = nameCell(cellAlong(stop.lat), cellAlong(stop.lng));
    const stops = this.#cells.get(cell);
    stops?.delete(stop.stop_id);
    if (stops?.size === 0) this.#cells.delete(cell);
  }
}

function cellAlong(degrees: number): number {
  return Math.floor(degrees * CELLS_PER_DEGREE);
}

function nameCell(row: number, column: number): string {
  return `${row},${column}`;
}

function compareIds(one: StopRecord, other: StopRecord): number {
  return one.stop_id < other.stop_id ? -1 : 1;
}

/** A caller looks for a newer list after so long. */
const FRESH_MS = DAY_MS;
const STALE_MS = 7 * DAY_MS;

/** The freshness of what the list says: as old as its data, and looked up again after a day. */
export function freshnessOfList({ dataDate }: StopRegister, now: Date): Freshness {
  const freshUntil = now.getTime() + FRESH_MS;
  return {
    retrievedAt: Math.min(Date.parse(dataDate), now.getTime()),
    freshUntil,
    staleUntil: freshUntil + STALE_MS,
    source: 'cache',
    shortage: null,
  };
}

/** The freshness of what the register says in place of the error; it is as old as the data. Throws any other error again. */
export function freshnessInPlaceOf(error: unknown, register: StopRegister, now: Date): Freshness {
  if (!(error instanceof ApiError)) throw error;
  const listed = freshnessOfList(register, now);
  const { retrievedAt } = listed;
  return { ...listed, freshUntil: retrievedAt, staleUntil: retrievedAt, shortage: shortageOf(error) };
}

/** Why the authority could not give what the register stands in for. */
export function shortageOf({ isForWantOfCalls }: ApiError): Freshness['shortage'] {
  return isForWantOfCalls ? 'busy' : 'failing';
}
