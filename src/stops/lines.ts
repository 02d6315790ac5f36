import { z } from 'zod';
import { DAY_MS } from '../clock.ts';
import type { UpstreamResponse } from '../efa/ask.ts';
import { mapDepartures } from '../efa/departure-page.ts';
import type { DepartureMonitorPayload } from '../efa/payload.ts';
import type { UpstreamRequest } from '../efa/request.ts';
import { nullIfApiError } from '../errors/api-error.ts';
import { createBoundedMap, ownBytes } from '../own-memory.ts';
import type { Departure } from '../transit/departure.ts';
import { MODES, type Mode, modeSchema } from '../transit/mode.ts';
import type { StopRegister } from './register.ts';

/** A change of the timetable shows after so long. */
const TTL_MS = 7 * DAY_MS;
/** Most stops take 500 bytes as JSON, at most some 10 KB. */
const MAX_STOPS = 5000;
const MAX_LINES = 60;
const MAX_HEADSIGNS = 5;
const MAX_NETWORKS = 5;

const seenSchema = z.object({
  /** The modes that upstream was asked for: of others nothing is known. */
  modes: z.array(modeSchema).max(MODES.length),
  lines: z
    .array(
      z.object({
        mode: modeSchema,
        route: z.string(),
        headsigns: z.array(z.string()).max(MAX_HEADSIGNS),
        /** Upstream's numbers of the networks; empty where they are not known. */
        networks: z.array(z.number()).max(MAX_NETWORKS).default([]),
      }),
    )
    .max(MAX_LINES),
  /** Milliseconds since 1970. */
  knownUntil: z.number(),
});
/** The lines that were seen leaving a stop. */
type Seen = z.infer<typeof seenSchema>;

/**
 * Remembers which lines departures of a stop named, in the process and, when there is a store, for all instances. The store
 * may lose entries at any time, and its calls never fail.
 */
export class StopLines {
  readonly #now: () => number;
  readonly #store;
  readonly #seen = createBoundedMap<Buffer>('lines of stops', MAX_STOPS);

  constructor(
    now: () => number,
    store?: {
      get(key: string): Promise<Buffer | null>;
      set(key: string, value: string, ttlMs: number): void;
    },
  ) {
    this.#now = now;
    this.#store = store;
  }

  /** The lines of all these modes that were seen at the stop; null where not all of the modes have been asked for. */
  async find(stopId: string, modes: readonly Mode[]): Promise<Seen['lines'] | null> {
    const isEnough = (seen: Seen | null) => seen !== null && modes.every((mode) => seen.modes.includes(mode));
    if (!isEnough(this.#find(stopId))) await this.#load(stopId);
    const seen = this.#find(stopId);
    return seen && isEnough(seen) ? seen.lines : null;
  }

  learn(
    stopId: string,
    modes: readonly Mode[],
    departures: readonly Pick<Departure, 'mode' | 'route' | 'destination' | 'network'>[],
  ): void {
    const before = this.#find(stopId);
    const seen = before ?? { modes: [], lines: [], knownUntil: this.#now() + TTL_MS };
    let isNew = modes.some((mode) => !seen.modes.includes(mode));
    seen.modes = MODES.filter((mode) => modes.includes(mode) || seen.modes.includes(mode));
    for (const { mode, route, destination, network } of departures) {
      let line = seen.lines.find((one) => one.mode === mode && one.route === route);
      if (!line) {
        if (seen.lines.length === MAX_LINES) continue;
        line = { mode, route, headsigns: [], networks: [] };
        seen.lines.push(line);
      }
      const hasHeadsign = addNew(line.headsigns, destination, MAX_HEADSIGNS);
      const hasNetwork = network !== null && addNew(line.networks, network, MAX_NETWORKS);
      isNew ||= hasHeadsign || hasNetwork;
    }
    if (!isNew) return;
    const written = JSON.stringify(seen);
    this.#seen.set(stopId, ownBytes(written));
    this.#store?.set(`lines:${stopId}`, written, seen.knownUntil - this.#now());
  }

  #find(stopId: string): Seen | null {
    const written = this.#seen.get(stopId);
    const seen: Seen | null = written ? JSON.parse(written.toString('utf8')) : null;
    return seen && this.#now() < seen.knownUntil ? seen : null;
  }

  /** Reads what another instance wrote; it is ignored where another version of the service wrote it in another form. */
  async #load(stopId: string): Promise<void> {
    const written = await this.#store?.get(`lines:${stopId}`);
    if (!written) return;
    try {
      const seen = seenSchema.parse(JSON.parse(written.toString('utf8')));
      const knownUntil = Math.min(seen.knownUntil, this.#now() + TTL_MS);
      this.#seen.set(stopId, ownBytes(JSON.stringify({ ...seen, knownUntil })));
    } catch {}
  }
}

/** Whether the item is new and there was room for it. */
function addNew<Item>(items: Item[], item: Item, max: number): boolean {
  if (items.length === max || items.includes(item)) return false;
  items.push(item);
  return true;
}

/** Learns the lines of a stop from every departures response of upstream. */
export function learnLines(lines: StopLines, register: StopRegister) {
  return async (request: UpstreamRequest, response: UpstreamResponse<unknown>) => {
    if (request.kind !== 'departureMonitor' || request.isArrival) return;
    const board = response as UpstreamResponse<DepartureMonitorPayload>;
    // An error in the response is for those who asked.
    const departures = (await mapDepartures(request, board).catch(nullIfApiError))?.kept ?? [];
    // An empty response says nothing: it may be night.
    if (departures.length === 0) return;
    const stopId = request.stopId.toUpperCase();
    // Upstream may list all that leaves the station of a platform.
    const isPlatform = register.get(stopId)?.is_platform;
    const own = isPlatform ? departures.filter((departure) => departure.stopId === stopId) : departures;
    lines.learn(stopId, request.modes, own);
  };
}
