import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { DAY_MS, MINUTE_MS } from '../core/clock.ts';
import { makePrivateFolder, writeDurably } from '../core/durable-file.ts';
import type { SharedRedis } from '../core/redis/shared-redis.ts';
import { parseSaved } from '../core/saved.ts';
import { facilitySchema, readingSchema } from './facility.ts';

const recordSchema = z.object({
  facility: facilitySchema.nullable(),
  /** The readings of the last hour, oldest first. */
  readings: z.array(readingSchema).max(200),
  /** When upstream last responded; 0 if never. */
  fetchedAt: z.number(),
  /** When upstream last responded about this car park, with a usable report or not. */
  triedAt: z.number(),
  /** Whether upstream responded that there is no such car park. */
  isGone: z.boolean(),
});
/** The stored data of one car park. Times are in milliseconds since 1970. */
export type CarParkRecord = z.infer<typeof recordSchema>;

const listSchema = z.object({ names: z.record(z.string(), z.string()), fetchedAt: z.number() });
/** The names of the car parks that upstream lists, by ID, and when the list was fetched. */
export type CarParkList = z.infer<typeof listSchema>;

const savedSchema = z.object({
  list: listSchema.nullable(),
  records: z.record(z.string(), recordSchema),
  calls: z.object({ day: z.int(), count: z.number() }),
});
export type Saved = z.infer<typeof savedSchema>;

/** Keeps car parks across restarts. Its methods never throw or reject. */
export interface CarParkStore {
  /** Whether other instances write to it, too. */
  isShared: boolean;
  load(): Promise<Partial<Saved>>;
  saveList(list: CarParkList): void;
  saveRecord(id: string, record: CarParkRecord): void;
  /** Called after a change with a function that returns everything. */
  saveAll(all: () => Saved): void;
  close(): Promise<void>;
}

/** Stores nothing, for the sandbox and tests. */
export const noCarParkStore: CarParkStore = {
  isShared: false,
  load: async () => ({}),
  saveList() {},
  saveRecord() {},
  saveAll() {},
  close: async () => {},
};

/** A file is written at most this often. */
const SAVE_EVERY_MS = MINUTE_MS;

/** For a single instance. A broken file counts as none. */
export function fileCarParks(path: string): CarParkStore {
  let timer: NodeJS.Timeout | null = null;
  let pending: (() => Saved) | null = null;

  async function write(): Promise<void> {
    const all = pending;
    pending = null;
    timer = null;
    if (!all) return;
    // If the disk is full, only a restart loses data.
    await makePrivateFolder(dirname(path))
      .then(() => writeDurably(path, JSON.stringify(all())))
      .catch(() => {});
  }

  return {
    ...noCarParkStore,
    async load() {
      const text = await readFile(path, 'utf8').catch(() => '');
      return parseSaved(savedSchema, text) ?? {};
    },
    saveAll(all) {
      pending = all;
      timer ??= setTimeout(write, SAVE_EVERY_MS).unref();
    },
    async close() {
      if (timer) clearTimeout(timer);
      await write();
    },
  };
}

/** Positions and names are worth keeping longer than readings. */
const KEPT_MS = 7 * DAY_MS;
const LIST = 'the list';

/** For several instances, which share a Redis; `source` separates the sandbox from upstream. */
export function redisCarParks({ redis, source }: { redis: SharedRedis; source: string }): CarParkStore {
  const name = `tis:${source}:carparks`;
  const save = async (field: string, value: object) => {
    await redis.trySendTo(name, (to) => to.hset(name, field, JSON.stringify(value)), 0);
    await redis.trySendTo(name, (to) => to.pexpire(name, KEPT_MS), 0);
  };
  return {
    ...noCarParkStore,
    isShared: true,
    async load() {
      const fields = await redis.trySendTo(name, (to) => to.hgetall(name), {} as Record<string, string>);
      const list = parseSaved(listSchema, fields[LIST] ?? '');
      const records = Object.entries(fields).flatMap(([field, text]) => {
        // Another version may use another format.
        const record = field === LIST ? null : parseSaved(recordSchema, text);
        return record ? [[field, record] as const] : [];
      });
      return { ...(list && { list }), records: Object.fromEntries(records) };
    },
    saveList: (list) => void save(LIST, list),
    saveRecord: (id, record) => void save(id, record),
  };
}
