import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import { createBoundedMap, hashOf, ownText } from '../core/own-memory.ts';
import { fetchCurrentAlerts, mapCarriedNotice } from '../efa/add-info.ts';
import { mapAlerts, parseInfos } from '../efa/alerts.ts';
import { listCarriedNotices } from '../efa/carried-notices.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import type { StopRegister } from '../stops/register.ts';
import { nameWithSuburb } from '../stops/table.ts';
import { alertId } from '../transit/additional-fields.ts';
import type { AlertSubject, AlertText, FindAlerts, FindLiftsOut } from '../transit/alert.ts';
import { type CurrentAlert, holdsAt, isOfLift } from '../transit/alert.ts';
import { withoutDate } from '../transit/run-id.ts';

/** If only an old list is available, a new one is requested after this time. */
const RETRY_MS = SECOND_MS;
/** Boards from the timetable need alerts, so the list is requested again when the last request is this old. */
const REFRESH_MS = 10 * MINUTE_MS;
const REFRESH_AFTER_FAILURE_MS = MINUTE_MS;
/** How long an alert from a board or journey is kept after it was last seen. */
const CARRIED_MS = 2 * HOUR_MS;
/** The limit for alerts from boards and journeys. */
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_NOTICE_BYTES = 50_000;
const OVERHEAD_BYTES = 300;
/** An ID that no stop has, for alerts of the line alone. */
const NO_STOP = '';

interface Carried {
  /** The alert as JSON; null if the list has it or it is too large. */
  written: string | null;
  /** In milliseconds since 1970. */
  seenAt: number;
}

/** An alert as the list caches it, with the stop IDs that callers use. */
export type KeptAlert = ReturnType<typeof prepare>;

/** All alerts: from upstream's list, and those found only in boards and journeys. */
export class AlertList {
  readonly #options;
  /** The alerts of the last list, by subject. */
  #index: AlertIndex = new Map();
  #lifts: readonly KeptAlert[] = [];
  #refreshAt = 0;
  /** Cached because reading the list takes tens of milliseconds, too long to repeat for each filter. */
  #kept: (Omit<Awaited<ReturnType<typeof fetchCurrentAlerts>>, 'alerts'> & { alerts: KeptAlert[] }) | null = null;
  #keptUntil = 0;
  #listed: ReadonlySet<string> = new Set();
  readonly #carried = createBoundedMap<Carried>('carried notices', {
    maxBytes: MAX_BYTES,
    sizeOf: ({ written }) => (written?.length ?? 0) + OVERHEAD_BYTES,
  });

  constructor(options: {
    now: () => number;
    stops: StopRegister;
    /** Requests the list for `alertsOf` and `liftsOut`; without it, only `load` does. */
    queryUpstream?: QueryUpstream;
  }) {
    this.#options = options;
  }

  /** Reads the last list without waiting; a new one is requested in the background every ten minutes. */
  readonly alertsOf: FindAlerts = (subject) => {
    this.#refresh();
    const alerts = this.#findInForce(subject);
    const distinct = new Map(alerts.map(({ text, restrictsWheelchairs }) => [text, { text, restrictsWheelchairs }]));
    return [...distinct.values()] satisfies AlertText[];
  };

  /** The alerts of a whole line in force at a time, by the last list, each once. */
  listOfLine(line: Pick<AlertSubject, 'mode' | 'route' | 'network' | 'at'>): KeptAlert[] {
    const alerts = this.#findInForce({ ...line, tripId: null, stopIds: [NO_STOP] });
    return [...new Map(alerts.map((alert) => [alert.id, alert])).values()];
  }

  #findInForce(subject: AlertSubject): KeptAlert[] {
    return listAlerts(this.#index, subject).filter((alert) => holdsAt(alert, subject.at));
  }

  /** Reads the last list without waiting, like `alertsOf`; null before the first one. */
  readonly liftsOut: FindLiftsOut = (at) => {
    this.#refresh();
    if (!this.#kept) return null;
    const lifts = this.#lifts.filter((alert) => holdsAt(alert, at));
    return lifts.flatMap(({ id, stops }) =>
      stops.map((stop) => ({ alertId: id, stopId: stop.id, platforms: stop.platforms })),
    );
  };

  /** Returns all alerts, including those that no longer apply. */
  async load(queryUpstream: QueryUpstream) {
    const present = this.#options.now();
    if (this.#kept && present < this.#keptUntil && present >= this.#kept.freshness.retrievedAt) {
      return { ...this.#kept, freshness: { ...this.#kept.freshness, source: 'cache' as const }, leftOut: {} };
    }
    const { alerts, ...list } = await fetchCurrentAlerts(queryUpstream);
    // Responses that arrived earlier are recorded in the next turn (see `add`), so wait for them.
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
    this.#lifts = prepared.filter(isOfLift);
    this.#refreshAt = present + REFRESH_MS;
    this.#keptUntil = shortage === null ? freshUntil : present + RETRY_MS;
    return this.#kept;
  }

  /** Records alerts of a response that are not in the list. It runs after the response has been delivered. */
  add(payload: object): void {
    void nextTurn().then(() => {
      for (const { key, toNotice } of listCarriedNotices(payload)) this.#remember(hashOf(key), toNotice);
    });
  }

  #refresh(): void {
    const { queryUpstream, now } = this.#options;
    if (!queryUpstream || now() < this.#refreshAt) return;
    this.#refreshAt = now() + REFRESH_AFTER_FAILURE_MS;
    // All boards need these few calls, even when today's budget has nothing left for others.
    this.load((request) => queryUpstream(request, { priority: 'high' })).catch(() => {});
  }

  #remember(key: string, toNotice: () => object): void {
    const carried = this.#carried.get(key);
    if (carried) {
      carried.seenAt = this.#options.now();
      return;
    }
    const notice = toNotice();
    const serialised = this.#isUnlisted(notice) ? writeShort(notice) : null;
    this.#carried.set(key, { written: serialised && ownText(serialised), seenAt: this.#options.now() });
  }

  #isUnlisted(notice: unknown): boolean {
    return mapAlerts(parseInfos([notice])).some((text) => !this.#listed.has(alertId(text)));
  }

  /** Drops alerts that are now in the list or have not been seen recently. */
  #dropCarried(): void {
    for (const [key, { written, seenAt }] of [...this.#carried.entries()]) {
      const isRecent = seenAt > this.#options.now() - CARRIED_MS;
      const isKept = isRecent && written !== null && this.#isUnlisted(JSON.parse(written));
      if (!isKept) this.#carried.delete(key);
    }
  }
}

/**
 * Replaces upstream's stop identifiers with the identifiers that callers use. For one of upstream's internal numbers, the stop
 * is found through its platforms.
 */
function prepare({ stops: namedStops, ...alert }: CurrentAlert, register: StopRegister) {
  const findFirst = (ids: readonly string[]) => ids.map((id) => register.get(id)).find((stop) => stop !== null);
  const knownStops = namedStops.map(({ ids, name, platforms }) => {
    const stop = findFirst(ids) ?? findFirst(platforms.flatMap((id) => register.get(id)?.parent_id ?? []));
    return stop
      ? { id: stop.stop_id, parent: stop.parent_id, name: nameWithSuburb(stop), modes: stop.modes, platforms }
      : { id: ids[0] as string, parent: ids[1] ?? null, name, modes: [], platforms };
  });
  return { ...alert, id: alertId(alert.text), stops: knownStops };
}

type AlertIndex = ReadonlyMap<string, readonly KeptAlert[]>;

function indexAlerts(alerts: readonly KeptAlert[]): AlertIndex {
  const index = new Map<string, KeptAlert[]>();
  for (const alert of alerts) {
    for (const key of new Set(keysOf(alert))) index.set(key, [...(index.get(key) ?? []), alert]);
  }
  return index;
}

/**
 * The subjects of an alert. For one about lines or runs: its lines if it is about whole lines, else its runs. For any other: the
 * stops that it names or, if it names none, its lines.
 */
function keysOf({ kind, stops, routes, runs, isOnWholeLines }: KeptAlert): string[] {
  const onLines = routes.map(({ mode, route }) => `line ${mode} ${route}`);
  const onRuns = runs.flatMap(({ tripId }) => (tripId ? [`run ${withoutDate(tripId)}`] : []));
  if (kind === 'run' || kind === 'line') return isOnWholeLines ? onLines : onRuns;
  if (stops.length === 0) return onLines;
  // Recorded behaviour: an alert on two platforms appears on departures from these platforms and from the station itself, but
  // not from its other platforms.
  return stops.flatMap(({ id, platforms }) => [
    `stop ${id}`,
    ...(platforms.length > 0 ? platforms.map((platform) => `stop ${platform}`) : [`parts ${id}`]),
  ]);
}

function listAlerts(index: AlertIndex, { mode, route, network, tripId, stopIds }: AlertSubject): KeptAlert[] {
  const [stopId, ...stations] = stopIds;
  const at = [`stop ${stopId}`, ...stations.map((id) => `parts ${id}`)].flatMap((key) => index.get(key) ?? []);
  // Two regions may have buses with the same number. If the network is unknown, the number alone decides.
  const onLine = (index.get(`line ${mode} ${route}`) ?? []).filter(({ routes }) =>
    routes.some(
      (line) =>
        line.mode === mode &&
        line.route === route &&
        (line.network === null || network === null || line.network === network),
    ),
  );
  const onRun = tripId === null ? [] : (index.get(`run ${withoutDate(tripId)}`) ?? []);
  return [...at, ...onLine, ...onRun];
}

/** Null if the alert is too long, or nested too deeply to be serialised. */
function writeShort(notice: object): string | null {
  try {
    const serialised = JSON.stringify(notice);
    return serialised.length > MAX_NOTICE_BYTES ? null : serialised;
  } catch {
    return null;
  }
}
