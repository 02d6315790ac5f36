import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../clock.ts';
import type { Ask, UpstreamResponse } from '../efa/ask.ts';
import { findKnownStop } from '../efa/expected-response.ts';
import { type DepartureMonitorPayload, findUnknownStopMessage } from '../efa/payload.ts';
import { findMode } from '../efa/product-class.ts';
import type { UpstreamRequest } from '../efa/request.ts';
import { readObject } from '../efa/response/field.ts';
import { readProduct } from '../efa/response/run.ts';
import { readStopPoint } from '../efa/stop-point.ts';
import { nullIfApiError } from '../errors/api-error.ts';
import { createBoundedMap } from '../own-memory.ts';
import { MODES, type Mode, modeSchema, sortModes } from '../transit/mode.ts';
import { nextWeekdayMorning } from '../transit/time.ts';

const ALIVE_TTL_MS = DAY_MS;
const DEAD_TTL_MS = 6 * HOUR_MS;
const MAX_STOPS = 50_000;

const verdictSchema = z.object({
  isAlive: z.boolean(),
  modes: z.array(modeSchema).max(MODES.length).readonly(),
  /** Milliseconds since 1970. */
  knownUntil: z.number(),
});
/** Whether a stop is in use, and which modes were seen leaving there. */
export type Verdict = z.infer<typeof verdictSchema>;

/**
 * Remembers verdicts in the process and, when there is a store, for all instances. The store may lose entries at any time,
 * and its calls never fail.
 */
export class Verdicts {
  readonly #now: () => Date;
  readonly #store;
  readonly #known = createBoundedMap<Verdict>('verdicts on stops', MAX_STOPS);

  constructor(
    now: () => Date,
    store?: {
      get(key: string): Promise<Buffer | null>;
      set(key: string, value: string, ttlMs: number): void;
    },
  ) {
    this.#now = now;
    this.#store = store;
  }

  find(stopId: string): Verdict | null {
    const verdict = this.#known.get(stopId);
    return verdict && this.#now().getTime() < verdict.knownUntil ? verdict : null;
  }

  /** Reads the verdicts of other instances; to be called before `find`, once for all stops of a request. */
  async load(stopIds: readonly string[]): Promise<void> {
    const unknown = stopIds.filter((stopId) => !this.find(stopId));
    if (!this.#store || unknown.length === 0) return;
    const { get } = this.#store;
    const written = await Promise.all(unknown.map((stopId) => get(`verdict:${stopId}`)));
    // No verdict holds for longer, whatever is written there.
    const latest = this.#now().getTime() + ALIVE_TTL_MS;
    for (const [index, stopId] of unknown.entries()) {
      const verdict = readVerdict(written[index] ?? null);
      if (verdict) this.#known.set(stopId, { ...verdict, knownUntil: Math.min(verdict.knownUntil, latest) });
    }
  }

  learn(stopId: string, { isAlive, modes }: Pick<Verdict, 'isAlive' | 'modes'>): Verdict {
    const ttlMs = isAlive ? ALIVE_TTL_MS : DEAD_TTL_MS;
    const modesEver = sortModes([...(this.find(stopId)?.modes ?? []), ...modes]);
    const verdict = { isAlive, modes: modesEver, knownUntil: this.#now().getTime() + ttlMs };
    this.#known.set(stopId, verdict);
    this.#store?.set(`verdict:${stopId}`, JSON.stringify(verdict), ttlMs);
    return verdict;
  }
}

/** Null when there is none, or when another version of the service wrote it in another form. */
function readVerdict(written: Buffer | null): Verdict | null {
  if (!written) return null;
  try {
    return verdictSchema.parse(JSON.parse(written.toString('utf8')));
  } catch {
    return null;
  }
}

/** Learns from every departures response of upstream that its stop is in use. */
export function learnFromDepartures(verdicts: Verdicts) {
  return (request: UpstreamRequest, response: UpstreamResponse<unknown>) => {
    if (request.kind !== 'departureMonitor' || request.isArrival) return;
    const payload = response.payload as DepartureMonitorPayload;
    const stopId = stopOfResponse(payload) ?? request.stopId;
    if (payload.stopEvents.length > 0) verdicts.learn(stopId, { isAlive: true, modes: modesSeen(payload) });
  };
}

/**
 * Asks upstream what leaves a stop now and, when nothing does, on the next weekday morning, because the present
 * may be night or a holiday. Null when that cannot be known at present.
 */
export async function checkStop(ask: Ask, verdicts: Verdicts, stopId: string, now: Date): Promise<Verdict | null> {
  const known = verdicts.find(stopId);
  if (known) return known;
  try {
    for (const at of [null, nextWeekdayMorning(now)]) {
      const { payload } = await ask({ kind: 'departureMonitor', stopId, modes: MODES, at });
      if (payload.stopEvents.length > 0) return verdicts.learn(stopId, { isAlive: true, modes: modesSeen(payload) });
      // Only these speak against the stop: its own board without departures, and that upstream does not know it.
      if (!findKnownStop(payload, stopId) && !findUnknownStopMessage(payload.systemMessages)) return null;
    }
    return verdicts.learn(stopId, { isAlive: false, modes: [] });
  } catch (error) {
    return nullIfApiError(error);
  }
}

/** The same with what other instances know, as the queue checks a stop. */
export function checkInBackground(verdicts: Verdicts, now: () => Date) {
  return async (ask: Ask, stopId: string) => {
    await verdicts.load([stopId]);
    await checkStop(ask, verdicts, stopId, now());
  };
}

/** Cancelled departures count too, because they show that the stop is in use. */
function modesSeen({ stopEvents }: DepartureMonitorPayload): Mode[] {
  return sortModes(
    stopEvents.flatMap((event) => {
      const product = readProduct(readObject(readObject(event)?.transportation)?.product);
      return findMode(product?.class ?? product?.iconId ?? 0) ?? [];
    }),
  );
}

/** The stop of the response, which may be the station of the platform asked for. */
function stopOfResponse({ locations }: DepartureMonitorPayload): string | null {
  return readStopPoint(locations[0])?.id ?? null;
}
