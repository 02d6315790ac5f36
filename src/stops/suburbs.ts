import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type Clock, DAY_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { makePrivateFolder, writeDurably } from '../core/durable-file.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import type { Log } from '../core/log.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import { isCovered, middleOf } from '../transit/place.ts';
import { type Bounds, BUILT_UP_CANBERRA } from '../transit/region.ts';
import { toSydneyWallClock } from '../transit/time.ts';
import { noPlannerStops, type PlannerStops, parseNamedStops, plannerStops } from './named-stops.ts';
import { type StopRecord, StopTable, tableText } from './table.ts';

/*
 * Suburbs, groups of poles (`G…`) and Canberra's stops are not in any timetable; the trip planner lists them around a place. A
 * sweep requests one cell of a grid at a time, at night and with the lowest priority.
 */

/** About 3.3 by 3.3 kilometres; New South Wales has 1,250 such cells with stops. */
const CELL = { rows: 0.03, columns: 0.036 };
/** From the centre of a cell to its corners. */
const RADIUS_METRES = 2500;
const MAX_CELLS = 1500;
const RENEW_AFTER_MS = 90 * DAY_MS;
/** One request each 30 s makes 480 cells a night. `NIGHT` is in Sydney time. */
const REQUEST_EVERY_MS = 30 * SECOND_MS;
const NIGHT = { from: '0100', until: '0500' };
const PAUSE_AFTER_FAILURE_MS = 10 * MINUTE_MS;
/** A crash loses at most this many cells. They are saved in batches, because rebuilding the table takes a quarter of a second. */
const CELLS_PER_SAVE = 60;
/** A cell in Canberra has the priority of one with this many stops. */
const STOPS_OF_CANBERRA = 20;

const fileSchema = z.object({
  format: z.literal(1),
  /** When each cell was requested, in milliseconds since 1970. */
  cells: z.record(z.string(), z.number()),
  /** The text of a table. */
  stops: z.string(),
});

/** Holds what the trip planner has listed, and when each cell was requested, in a file of the data directory. */
export class Suburbs implements PlannerStops {
  #stops = noPlannerStops;
  readonly #file: string;
  readonly #cells = new Map<string, number>();
  /** Stops named since the table was built; null for stops that are gone. */
  readonly #named = new Map<string, StopRecord | null>();
  #unsavedCells = 0;
  readonly #listeners: (() => void)[] = [];

  /** Starts empty if the file is missing or broken. */
  constructor(dataDir: string, log: Log<'warn'>) {
    this.#file = join(dataDir, 'suburbs.json');
    try {
      const { cells, stops } = fileSchema.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
      this.#stops = plannerStops(new StopTable(Buffer.from(stops)));
      for (const [cell, at] of Object.entries(cells)) this.#cells.set(cell, at);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') log.warn({ reason: message.slice(0, 200) }, 'suburbs.json cannot be read');
    }
  }

  get table(): StopTable {
    return this.#stops.table;
  }

  membersOf(stopId: string): readonly string[] {
    return this.#stops.membersOf(stopId);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Lists the cells that were not requested in the last 90 days, those with the most stops first. */
  async listDue(stops: Iterable<StopRecord>, now: number): Promise<Bounds[]> {
    const counts = new Map<string, number>();
    const count = (lat: number, lng: number, increment: number) => {
      const cell = nameCell(lat, lng);
      if (isCovered(lat, lng)) counts.set(cell, (counts.get(cell) ?? 0) + increment);
    };
    for (let lat = BUILT_UP_CANBERRA.south; lat < BUILT_UP_CANBERRA.north; lat += CELL.rows) {
      for (let lng = BUILT_UP_CANBERRA.west; lng < BUILT_UP_CANBERRA.east; lng += CELL.columns)
        count(lat, lng, STOPS_OF_CANBERRA);
    }
    let read = 0;
    for (const { lat, lng } of stops) {
      if (++read % 500 === 0) await nextTurn();
      count(lat, lng, 1);
    }
    const busiest = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_CELLS);
    const isDue = (cell: string) => now - (this.#cells.get(cell) ?? Number.NEGATIVE_INFINITY) >= RENEW_AFTER_MS;
    return busiest.flatMap(([cell]) => (isDue(cell) ? boundsOf(cell) : []));
  }

  /** Records the trip planner's list around a cell. Stops within the cell that are no longer listed are dropped. */
  record(cell: Bounds, locations: readonly unknown[], now: number): void {
    const stops = parseNamedStops(locations);
    // Cells are only requested if they have stops, so an empty list is an error of upstream.
    if (stops.length > 0) {
      for (const { stop_id } of this.table.inBox(cell)) this.#named.set(stop_id, null);
      for (const stop of stops) this.#named.set(stop.stop_id, stop);
    }
    this.#cells.set(nameCell(...middleOf(cell)), now);
    this.#unsavedCells++;
  }

  /**
   * Rebuilds the table and replaces the file, in one step so that a crash leaves the previous one. Does nothing below
   * `atLeastCells` unsaved cells.
   */
  async save(atLeastCells = 1): Promise<void> {
    if (this.#unsavedCells < atLeastCells) return;
    this.#unsavedCells = 0;
    const stops = [...this.table].filter(({ stop_id }) => !this.#named.has(stop_id));
    for (const stop of this.#named.values()) if (stop) stops.push(stop);
    await nextTurn();
    const text = tableText(stops);
    this.#named.clear();
    this.#stops = plannerStops(new StopTable(text));
    for (const listener of this.#listeners) listener();
    const cells = Object.fromEntries(this.#cells);
    await makePrivateFolder(dirname(this.#file));
    await writeDurably(this.#file, JSON.stringify({ format: 1, cells, stops: text.toString() }));
  }
}

/** Requests cells that are due, one at a time, at night. Returns a function that stops the sweep. */
export function sweepSuburbs(
  suburbs: Suburbs,
  {
    stops,
    queryUpstream,
    clock,
    log,
  }: { stops: Iterable<StopRecord>; queryUpstream: QueryUpstream; clock: Clock; log: Log<'warn'> },
): () => void {
  let due: Bounds[] | null = null;
  let cancel = clock.after(REQUEST_EVERY_MS, sweep, { isBackground: true });

  async function sweep(): Promise<void> {
    let pauseMs = REQUEST_EVERY_MS;
    try {
      await step();
    } catch (error) {
      pauseMs = PAUSE_AFTER_FAILURE_MS;
      log.warn({ reason: (error as Error).message }, 'the sweep for suburbs pauses');
    }
    cancel = clock.after(pauseMs, sweep, { isBackground: true });
  }

  async function step(): Promise<void> {
    const { time } = toSydneyWallClock(clock.now());
    const isNight = time >= NIGHT.from && time < NIGHT.until;
    due = isNight ? (due ?? (await suburbs.listDue(stops, clock.now()))) : null;
    const cell = due?.shift();
    if (!cell) return suburbs.save();
    const [lat, lng] = middleOf(cell);
    const request = { kind: 'coord', lat, lng, radiusMetres: RADIUS_METRES } as const;
    const { payload } = await queryUpstream(request, { priority: 'background' });
    suburbs.record(cell, payload.locations, clock.now());
    await suburbs.save(CELLS_PER_SAVE);
  }

  return () => cancel();
}

function nameCell(lat: number, lng: number): string {
  return `${Math.floor(lat / CELL.rows)},${Math.floor(lng / CELL.columns)}`;
}

function boundsOf(cell: string): Bounds {
  const [row = 0, column = 0] = cell.split(',').map(Number);
  const [south, west] = [row * CELL.rows, column * CELL.columns];
  return { south, west, north: south + CELL.rows, east: west + CELL.columns };
}
