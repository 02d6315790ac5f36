import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import { createBoundedMap, hashOf, ownText } from '../core/own-memory.ts';
import { mapCarriedNotice, readCurrentAlerts } from '../efa/add-info.ts';
import { mapAlerts, readInfos } from '../efa/alerts.ts';
import type { Ask } from '../efa/ask.ts';
import { listCarriedNotices } from '../efa/carried-notices.ts';
import type { StopRegister } from '../stops/register.ts';
import { nameWithSuburb } from '../stops/table.ts';
import { alertId } from '../transit/additional-fields.ts';
import type { AlertSubject, AlertText, FindAlerts } from '../transit/alert.ts';
import { type CurrentAlert, holdsAt } from '../transit/alert.ts';

/** While only an old list is to be had, a new one is asked for after so long. */
const RETRY_MS = SECOND_MS;
/** Boards from the timetable look for notices: the list is requested again when the last request is so long ago. */
const REFRESH_MS = 10 * MINUTE_MS;
const REFRESH_AFTER_FAILURE_MS = MINUTE_MS;
/** How long a notice of boards and journeys is kept after it was last seen. */
const CARRIED_MS = 2 * HOUR_MS;
/** The bound of the notices that boards and journeys carry. */
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_NOTICE_BYTES = 50_000;
const OVERHEAD_BYTES = 300;
interface Carried {
  /** The notice as JSON; null where the list has it, or it is too large. */
  written: string | null;
  /** In milliseconds since 1970. */
  seenAt: number;
}

/** An alert as it is kept between two calls. */
export type KeptAlert = ReturnType<typeof prepare>;

/** All notices: those of the authority's list, and those that only its boards and journeys carry. */
export class AlertList {
  readonly #options;
  /** The alerts that were read last, by what they are about. */
  #index: AlertIndex = new Map();
  #refreshAt = 0;
  /** Reading the list takes tens of milliseconds, too long for each of many filters. */
  #kept: (Omit<Awaited<ReturnType<typeof readCurrentAlerts>>, 'alerts'> & { alerts: KeptAlert[] }) | null = null;
  #keptUntil = 0;
  #listed: ReadonlySet<string> = new Set();
  readonly #carried = createBoundedMap<Carried>('carried notices', {
    maxBytes: MAX_BYTES,
    sizeOf: ({ written }) => (written?.length ?? 0) + OVERHEAD_BYTES,
  });

  constructor(options: {
    now: () => number;
    stops: StopRegister;
    /** Requests the list, for `alertsOf`. */
    ask?: Ask;
  }) {
    this.#options = options;
  }

  /** By the list that was read last, without waiting; it is requested in the background every ten minutes. */
  readonly alertsOf: FindAlerts = (subject) => {
    this.#refresh();
    const found = findAlerts(this.#index, subject).filter((alert) => holdsAt(alert, subject.at));
    const distinct = new Map(found.map(({ text, restrictsWheelchairs }) => [text, { text, restrictsWheelchairs }]));
    return [...distinct.values()] satisfies AlertText[];
  };

  /** Every alert, also those that do not hold any more. */
  async read(ask: Ask) {
    const present = this.#options.now();
    if (this.#kept && present < this.#keptUntil && present >= this.#kept.freshness.retrievedAt) {
      return { ...this.#kept, freshness: { ...this.#kept.freshness, source: 'cache' as const }, leftOut: {} };
    }
    const { alerts, ...list } = await readCurrentAlerts(ask);
    // What arrived before was then looked at.
    await nextTurn();
    this.#listed = new Set(alerts.map(({ text }) => alertId(text)));
    this.#dropCarried();
    const carried = [...this.#carried.values()].flatMap(({ written }) =>
      written === null ? [] : mapCarriedNotice(JSON.parse(written)),
    );
    const prepared = [...alerts, ...carried].map((alert) => prepare(alert, this.#options.stops));
    const { shortage, freshUntil } = list.freshness;
    this.#kept = { ...list, alerts: prepared };
    this.#index = indexAlerts(prepared);
    this.#refreshAt = present + REFRESH_MS;
    this.#keptUntil = shortage === null ? freshUntil : present + RETRY_MS;
    return this.#kept;
  }

  /** Remembers the notices of a response that the list does not have, when whoever requested it has it. */
  learn(payload: object): void {
    void nextTurn().then(() => {
      for (const { key, toNotice } of listCarriedNotices(payload)) this.#remember(hashOf(key), toNotice);
    });
  }

  #refresh(): void {
    const { ask, now } = this.#options;
    if (!ask || now() < this.#refreshAt) return;
    this.#refreshAt = now() + REFRESH_AFTER_FAILURE_MS;
    // All boards wait for these few calls, also on a day on which nothing is left for others.
    this.read((request) => ask(request, { priority: 'high' })).catch(() => {});
  }

  #remember(key: string, toNotice: () => object): void {
    const known = this.#carried.get(key);
    if (known) {
      known.seenAt = this.#options.now();
      return;
    }
    const notice = toNotice();
    const written = this.#isUnlisted(notice) ? writeShort(notice) : null;
    this.#carried.set(key, { written: written && ownText(written), seenAt: this.#options.now() });
  }

  #isUnlisted(notice: unknown): boolean {
    return mapAlerts(readInfos([notice])).some((text) => !this.#listed.has(alertId(text)));
  }

  /** Drops what is listed by now or has not been seen for long. */
  #dropCarried(): void {
    for (const [key, { written, seenAt }] of [...this.#carried.entries()]) {
      const isRecent = seenAt > this.#options.now() - CARRIED_MS;
      const isKept = isRecent && written !== null && this.#isUnlisted(JSON.parse(written));
      if (!isKept) this.#carried.delete(key);
    }
  }
}

/**
 * Upstream names a stop by several identifiers; the one that callers know is taken. Where it is upstream's internal number,
 * its platforms lead to the stop.
 */
function prepare({ stops: named, ...alert }: CurrentAlert, register: StopRegister) {
  const findFirst = (ids: readonly string[]) => ids.map((id) => register.get(id)).find((one) => one !== null);
  const known = named.map(({ ids, name, platforms }) => {
    const stop = findFirst(ids) ?? findFirst(platforms.flatMap((id) => register.get(id)?.parent_id ?? []));
    return stop
      ? { id: stop.stop_id, parent: stop.parent_id, name: nameWithSuburb(stop), modes: stop.modes, platforms }
      : { id: ids[0] as string, parent: ids[1] ?? null, name, modes: [], platforms };
  });
  return { ...alert, id: alertId(alert.text), stops: known };
}

type AlertIndex = ReadonlyMap<string, readonly KeptAlert[]>;

function indexAlerts(alerts: readonly KeptAlert[]): AlertIndex {
  const index = new Map<string, KeptAlert[]>();
  for (const alert of alerts) {
    for (const key of new Set(keysOf(alert))) index.set(key, [...(index.get(key) ?? []), alert]);
  }
  return index;
}

/** A notice of a run concerns that run, one of a line its line, and any other one the stops that it names, else the lines. */
function keysOf({ kind, stops, routes, runs, isOnWholeLines }: KeptAlert): string[] {
  const onLines = routes.map(({ mode, route }) => `line ${mode} ${route}`);
  const onRuns = runs.flatMap(({ tripId }) => (tripId ? [`run ${tripId}`] : []));
  if (kind === 'run' || kind === 'line') return isOnWholeLines ? onLines : onRuns;
  if (stops.length === 0) return onLines;
  // Recorded: a notice on two platforms is on departures there and on those of the station itself, not on its other platforms.
  return stops.flatMap(({ id, platforms }) => [
    `stop ${id}`,
    ...(platforms.length > 0 ? platforms.map((platform) => `stop ${platform}`) : [`parts ${id}`]),
  ]);
}

function findAlerts(index: AlertIndex, { mode, route, network, tripId, stopIds }: AlertSubject): KeptAlert[] {
  const [own, ...stations] = stopIds;
  const at = [`stop ${own}`, ...stations.map((id) => `parts ${id}`)].flatMap((key) => index.get(key) ?? []);
  // Two regions may have buses of one number. Where a network is not known, the number decides.
  const onLine = (index.get(`line ${mode} ${route}`) ?? []).filter(({ routes }) =>
    routes.some(
      (line) =>
        line.mode === mode &&
        line.route === route &&
        (line.network === null || network === null || line.network === network),
    ),
  );
  return [...at, ...onLine, ...(index.get(`run ${tripId}`) ?? [])];
}

/** Null for a notice that is too long, or nested too deeply to be written. */
function writeShort(notice: object): string | null {
  try {
    const written = JSON.stringify(notice);
    return written.length > MAX_NOTICE_BYTES ? null : written;
  } catch {
    return null;
  }
}
