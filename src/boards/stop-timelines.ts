import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { HOUR_MS } from '../clock.ts';
import type { DeparturePage } from '../efa/departure-page.ts';
import { ownBytes, shrinkCache } from '../own-memory.ts';
import { occupancySchema } from '../transit/departure.ts';
import { type Mode, modeSchema } from '../transit/mode.ts';
import { addPage, ChangeLog, type Timeline } from './timeline.ts';

/** The knowledge of this process about one stop. `timeline` is replaced when it grows, never changed. */
export interface StopTimeline {
  readonly stopId: string;
  stopName: string;
  timeline: Timeline;
  readonly changes: ChangeLog;
  /** The last live time of each departure by the feeds, by its `runKey`. Other instances do not know it. */
  readonly lastLive: Map<string, number>;
  /** The last time that a board with each mode was requested from this process. */
  readonly askedModes: Map<Mode, number>;
}

/** The store in which instances share timelines. Its calls never fail. */
export interface TimelineStore {
  get(key: string): Promise<Buffer | null>;
  set(key: string, value: Buffer, ttlMs: number): void;
}

export const departureSchema = z.object({
  key: z.string(),
  runId: z.string().nullable(),
  stopId: z.string(),
  network: z.number().nullable(),
  mode: modeSchema,
  route: z.string(),
  destination: z.string(),
  platform: z.string().nullable(),
  plannedAt: z.number(),
  isWheelchairAccessible: z.boolean(),
  isVehicleAccessible: z.boolean().nullable(),
  isStopAccessible: z.boolean().nullable(),
  occupancy: occupancySchema.nullable(),
  alerts: z.array(z.string()),
  saidAt: z.number(),
  // States by the feeds are not kept.
  state: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('live'), leavesAt: z.number() }),
    z.object({ kind: z.enum(['scheduled', 'cancelled']) }),
  ]),
});
const pageSchema = z.object({
  stopName: z.string(),
  stopModes: z.array(modeSchema),
  modes: z.array(modeSchema),
  isPresent: z.boolean(),
  from: z.number(),
  until: z.number(),
  isEnd: z.boolean(),
  lastPlannedAt: z.number().nullable(),
  departures: z.array(departureSchema),
  leftOut: z.record(z.string(), z.number()),
  freshness: z.object({
    retrievedAt: z.number(),
    freshUntil: z.number(),
    staleUntil: z.number(),
    source: z.enum(['upstream', 'joined', 'cache']),
    shortage: z.enum(['busy', 'failing']).nullable(),
  }),
});
const changeSchema = z.object({ change: z.object({ key: z.string(), at: z.number() }), notedAt: z.number() });
/** The form in which a stop is kept and shared. */
const recordSchema = z.object({
  stopName: z.string(),
  pages: z.array(pageSchema),
  settled: z.object({ askedAt: z.number().nullable(), changes: z.array(changeSchema) }),
});

/** Older pages are useless. */
const KEPT_MS = 6 * HOUR_MS;
/** The number grows with each form of a record, so that instances of two versions do not read each other's records. */
const FORM = 4;
/** Packed, a stop with three pages takes about 8 kB: 64 MB hold 8,000 stops. */
const MAX_PACKED_BYTES = 64 * 1024 * 1024;
/** Opened, a stop takes about 150 kB: 64 MB hold the stops that are requested most. */
const MAX_OPEN_BYTES = 64 * 1024 * 1024;
/** An object takes about three times the room of its JSON. */
const OBJECT_FACTOR = 3;
const OVERHEAD_BYTES = 1000;
/** The overhead of an opened stop, with the last live times of `MAX_REMEMBERED_RUNS` runs, whose identifiers have up to 35 characters. */
const OPEN_OVERHEAD_BYTES = 50_000;
export const MAX_REMEMBERED_RUNS = 300;
const MAX_RECORD_BYTES = 8 * 1024 * 1024;

/** Keeps the timelines of stops: compressed, and the ones that are requested most also open. */
export class StopTimelines {
  readonly #store: TimelineStore | null;
  readonly #packed: LRUCache<string, Buffer>;
  readonly #opened: LRUCache<string, StopTimeline>;

  constructor(store: TimelineStore | null, { maxPackedBytes = MAX_PACKED_BYTES, maxOpenBytes = MAX_OPEN_BYTES } = {}) {
    this.#store = store;
    this.#packed = new LRUCache({
      maxSize: maxPackedBytes,
      sizeCalculation: (record, stopId) => record.length + 2 * stopId.length + OVERHEAD_BYTES,
    });
    this.#opened = new LRUCache({ maxSize: maxOpenBytes });
  }

  /** Null when the stop is not known. */
  async open(stopId: string): Promise<StopTimeline | null> {
    const known = this.#opened.get(stopId);
    if (known) return known;
    const bytes = this.#packed.get(stopId) ?? (await this.#store?.get(keyOf(stopId)));
    // Another request may have opened it meanwhile.
    return this.#opened.get(stopId) ?? (bytes ? this.#keepOpen(stopId, bytes) : null);
  }

  /** Adds the pages of other instances. True when one is new. */
  async takeOver(stop: StopTimeline): Promise<boolean> {
    const bytes = await this.#store?.get(keyOf(stop.stopId));
    const record = bytes && unpackRecord(bytes, recordSchema, MAX_RECORD_BYTES);
    return record ? merge(stop, record.value) : false;
  }

  /** Adds pages to the stop's timeline; `isNew` when one is new. */
  async add(stopId: string, stopName: string, pages: readonly DeparturePage[]) {
    const stop = (await this.open(stopId)) ?? create(stopId, stopName);
    stop.stopName = stopName;
    const isNew = pages.map((page) => addOnce(stop, page)).includes(true);
    if (isNew) this.#keep(stop);
    return { stop, isNew };
  }

  /**
   * Keeps the stop's timeline as it is now, and shares it with the other instances. Pages that another instance adds between
   * reading and writing are lost to the others, which request them again.
   */
  async share(stop: StopTimeline): Promise<void> {
    if (!this.#store) return;
    await this.takeOver(stop);
    this.#store.set(keyOf(stop.stopId), this.#keep(stop), KEPT_MS);
  }

  size(): { entries: number; bytes: number } {
    return { entries: this.#packed.size, bytes: this.#packed.calculatedSize + this.#opened.calculatedSize };
  }

  /** Drops the stops that were unused for longest, and keeps this share of all. */
  shrink(keptShare: number): void {
    shrinkCache(this.#packed, keptShare);
    shrinkCache(this.#opened, keptShare);
  }

  #keepOpen(stopId: string, bytes: Buffer): StopTimeline | null {
    const record = unpackRecord(bytes, recordSchema, MAX_RECORD_BYTES);
    if (!record) return null;
    const stop = create(stopId, record.value.stopName);
    merge(stop, record.value);
    this.#packed.set(stopId, ownBytes(bytes));
    this.#opened.set(stopId, stop, { size: record.jsonBytes * OBJECT_FACTOR + OPEN_OVERHEAD_BYTES });
    return stop;
  }

  #keep(stop: StopTimeline): Buffer {
    const record = { stopName: stop.stopName, pages: stop.timeline, settled: stop.changes.settled() };
    const json = Buffer.from(JSON.stringify(record));
    const bytes = ownBytes(zstdCompressSync(json));
    this.#packed.set(stop.stopId, bytes);
    this.#opened.set(stop.stopId, stop, { size: json.length * OBJECT_FACTOR + OPEN_OVERHEAD_BYTES });
    return bytes;
  }
}

function create(stopId: string, stopName: string): StopTimeline {
  return { stopId, stopName, timeline: [], changes: new ChangeLog(), lastLive: new Map(), askedModes: new Map() };
}

function keyOf(stopId: string): string {
  return `timeline:${FORM}:${stopId}`;
}

function merge(stop: StopTimeline, { pages, settled }: z.infer<typeof recordSchema>): boolean {
  stop.changes.takeOver(settled);
  return pages.map((page) => addOnce(stop, page)).includes(true);
}

function addOnce(stop: StopTimeline, page: DeparturePage): boolean {
  const isKnown = stop.timeline.some(
    ({ from, freshness, modes }) =>
      from === page.from && freshness.retrievedAt === page.freshness.retrievedAt && modes.join() === page.modes.join(),
  );
  if (!isKnown) stop.timeline = addPage(stop.timeline, page);
  return !isKnown;
}

/** Null when the bytes are not such a record: the next one that is kept takes their place. */
export function unpackRecord<Value>(bytes: Buffer, schema: z.ZodType<Value>, maxBytes: number) {
  try {
    const json = zstdDecompressSync(bytes, { maxOutputLength: maxBytes });
    return { value: schema.parse(JSON.parse(json.toString())), jsonBytes: json.length };
  } catch {
    return null;
  }
}
