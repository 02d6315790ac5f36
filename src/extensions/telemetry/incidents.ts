import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { DAY_MS, MINUTE_MS, within } from '../../core/clock.ts';
import { writeDurably } from '../../core/durable-file.ts';
import type { SharedRedis } from '../../core/redis/shared-redis.ts';
import { parseSaved } from '../../core/saved.ts';

export const KEPT_DAYS = 90;
const MAX_INCIDENTS = 200;
/** How often the state is observed. A state must last for two observations before it counts. */
export const OBSERVE_EVERY_MS = MINUTE_MS;
/** An unchanged record is written this often, which saves writes to disk. */
const WRITE_EVERY_MS = 5 * MINUTE_MS;
/** Without observations for longer than this, the service was not running. */
const GAP_MS = 10 * MINUTE_MS;
/** A state that returns within this time continues its incident. */
const REOPEN_MS = 10 * MINUTE_MS;
/** How long a page waits for Redis. */
const PATIENCE_MS = 500;

const badState = { status: z.enum(['degraded', 'down']), reason: z.string().max(200) };
const incidentSchema = z.object({ ...badState, from: z.number(), to: z.number().nullable() });
/** A period in which the service was degraded or down, in milliseconds since 1970; `to` is null while it lasts. */
export type Incident = z.infer<typeof incidentSchema>;

/** Why the service is not operational. */
export type BadState = Pick<Incident, 'status' | 'reason'>;

const recordSchema = z.object({
  /** When recording began. */
  since: z.number(),
  /** When the last observation was made. */
  seenAt: z.number(),
  /** A state observed once. */
  suspected: z.object({ ...badState, from: z.number() }).nullable(),
  /** Oldest first. */
  incidents: z.array(incidentSchema),
});
export type IncidentRecord = z.infer<typeof recordSchema>;

/** Where the record is stored, as text. */
export interface IncidentStore {
  load(): Promise<string | null>;
  write(text: string): Promise<unknown>;
  /** Whether this instance makes the observation of this minute. */
  claim?(): Promise<boolean>;
}

export interface IncidentLog {
  load(): Promise<IncidentRecord | null>;
  /** Null means operational. Rejects if the store fails; the next observation then catches up. */
  observe(state: BadState | null): Promise<void>;
}

/** Records when the service was degraded or down. The sandbox does not record when it was not running. */
export function createIncidentLog({
  store,
  isSandbox,
  now,
}: {
  store: IncidentStore;
  isSandbox: boolean;
  now: () => number;
}): IncidentLog {
  const startedAt = isSandbox ? 0 : now();
  let lastRecord: IncidentRecord | null = null;

  /** Returns the last known record if the store does not respond. */
  async function load(): Promise<IncidentRecord | null> {
    const text = await within(PATIENCE_MS, store.load(), () => new Error('the store of incidents does not respond'));
    lastRecord = parseSaved(recordSchema, text);
    return lastRecord;
  }

  return {
    load: () => load().catch(() => lastRecord),
    async observe(state: BadState | null): Promise<void> {
      if (store.claim && !(await store.claim())) return;
      const before = await load();
      const after = addObservation(before, state, { at: now(), startedAt });
      const isOld = !before || after.seenAt - before.seenAt >= WRITE_EVERY_MS;
      if (!isOld && JSON.stringify({ ...after, seenAt: before.seenAt }) === JSON.stringify(before)) return;
      await store.write(JSON.stringify(after));
      lastRecord = after;
    },
  };
}

/** Returns the record with one more observation; `state` is null while the service is operational. */
export function addObservation(
  record: IncidentRecord | null,
  state: BadState | null,
  { at, startedAt }: { at: number; startedAt: number },
): IncidentRecord {
  const { since, seenAt, suspected, ...kept } = record ?? { since: at, seenAt: at, suspected: null, incidents: [] };
  let incidents = kept.incidents.filter(({ to }) => to === null || to > at - KEPT_DAYS * DAY_MS);
  // A running instance that could not reach the store does not prove that the service was down.
  if (at - seenAt > GAP_MS && startedAt > seenAt) {
    incidents = end(incidents, seenAt);
    incidents.push({ status: 'down', reason: 'the service was not running', from: seenAt, to: at });
  }
  const last = incidents.at(-1);
  const earlierIncidents = incidents.slice(0, -1);
  const write = (changed: Incident[], nowSuspected: IncidentRecord['suspected'] = null) => ({
    since,
    seenAt: at,
    suspected: nowSuspected,
    incidents: changed.slice(-MAX_INCIDENTS),
  });
  if (!state) return write(end(incidents, at));
  if (last?.to === null) return write([...earlierIncidents, worse(last, state)]);
  if (!suspected) return write(incidents, { ...state, from: at });
  if (last?.to && suspected.from - last.to < REOPEN_MS)
    return write([...earlierIncidents, { ...worse(last, state), to: null }]);
  return write([...incidents, { ...state, from: suspected.from, to: null }]);
}

function end(incidents: readonly Incident[], at: number): Incident[] {
  return incidents.map((incident) => ({ ...incident, to: incident.to ?? at }));
}

/** An incident has its worst status, with the reason for it. */
function worse(incident: Incident, state: BadState): Incident {
  return incident.status === 'degraded' && state.status === 'down' ? { ...incident, ...state } : incident;
}

export function memoryIncidents(): IncidentStore {
  let storedText: string | null = null;
  return {
    load: async () => storedText,
    write: async (text) => {
      storedText = text;
    },
  };
}

export function fileIncidents(path: string): IncidentStore {
  return {
    load: () =>
      readFile(path, 'utf8').catch((error) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      }),
    write: (text) => writeDurably(path, text),
  };
}

/** Shared by all instances. `source` keeps the sandbox's record apart from upstream's. */
export function redisIncidents({ redis, source }: { redis: SharedRedis; source: string }): IncidentStore {
  const key = `{tis:traffic:${source}}:incidents`;
  const lease = `${key}:lease`;
  return {
    load: () => redis.sendTo(key, (connection) => connection.get(key)),
    write: (text) => redis.sendTo(key, (connection) => connection.set(key, text, 'PX', KEPT_DAYS * DAY_MS)),
    claim: async () =>
      (await redis.sendTo(lease, (connection) => connection.set(lease, '1', 'PX', OBSERVE_EVERY_MS / 2, 'NX'))) ===
      'OK',
  };
}
