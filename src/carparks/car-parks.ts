import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, sleep, systemClock } from '../core/clock.ts';
import { createConcurrencyLimit } from '../core/event-loop-turn.ts';
import type { Log } from '../core/log.ts';
import { ApiError } from '../errors/api-error.ts';
import { carParksNotEnabled } from '../errors/messages.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { Meter } from '../upstream/budget/meter.ts';
import { type CarParkClient, type CarParkFailure, FailedCall } from './client.ts';
import type { Facility, Reading } from './facility.ts';
import { type CarParkList, type CarParkRecord, type CarParkStore, noCarParkStore } from './store.ts';

/** Calls per UTC day for all instances together. A key has 60,000. */
export const CALLS_A_DAY = 2000;
/** An older reading is not shown. */
export const MAX_READING_AGE_MS = 15 * MINUTE_MS;
/** The clock of a car park may be ahead by this much; readings further in the future are not shown. */
const MAX_AHEAD_MS = 5 * MINUTE_MS;
/** The trend compares with the reading closest to `ms` ago that is between `min` and `max` old. */
const TREND = { ms: 30 * MINUTE_MS, min: 20 * MINUTE_MS, max: 40 * MINUTE_MS };
const KEPT_READINGS_MS = HOUR_MS;
/** A change below this share of the capacity counts as steady. */
const STEADY_SHARE = 0.02;
/** How long a report is fresh. It is longer for requests of more than `FEW` car parks, which would otherwise use up the calls. */
const FRESH_MS = { few: 4 * MINUTE_MS, many: 10 * MINUTE_MS };
const FEW = 10;
const LIST_FRESH_MS = 6 * HOUR_MS;
/** A car park whose response cannot be used is requested again after this time. */
const TRY_AGAIN_MS = 5 * MINUTE_MS;
const AT_ONCE = 4;
const SYNC_EVERY_MS = 5 * SECOND_MS;
/** Pauses after a failure, which double from the first to the last. */
const PAUSE_MS = { first: 15 * SECOND_MS, last: 4 * MINUTE_MS };
const NOT_ENABLED_PAUSE_MS = 30 * MINUTE_MS;
/** After this many unusable responses in a row, upstream is at fault, not the car park. */
const UNUSABLE_IN_A_ROW = 3;
/** While responses are on their way, a result is fresh for this time. */
const PENDING_MS = 2 * SECOND_MS;
const MAX_FRESH_MS = MINUTE_MS;
const MAX_RATE_WAIT_MS = 3 * SECOND_MS;

export type Trend = 'filling' | 'emptying' | 'steady';

/** A car park as it is now. Times are in milliseconds since 1970. */
export interface CarPark extends Facility {
  id: string;
  /** Null while no current reading is known. */
  spacesFree: number | null;
  trend: Trend | null;
  /** Free spaces now minus free spaces half an hour ago; null without a reading of then. */
  spacesChange: number | null;
  /** The time of the last reading, however old. */
  reportedAt: number | null;
}

/** The car parks of one response. */
export interface FoundCarParks {
  carParks: CarPark[];
  /** Number of listed car parks without a first report. */
  unknown: number;
  freshness: Freshness;
  /** When the first of the readings becomes too old; absent if there is none. */
  changesAt?: number;
}

/** What the operations use of `CarParks`. */
export type CarParkSource = Pick<CarParks, 'fetch' | 'get'>;

/** Counts the calls of a day. `follow` continues from a stored count. */
type DayMeter = Pick<Meter, 'spend' | 'spent'> & { follow?: (count: number) => void };

/** Why no calls are made. */
type Problem = Exclude<CarParkFailure, 'gone'> | 'day';

/** The state of the car parks on this instance, for the status page and the metrics. */
export interface CarParkStatus {
  /** `unused`: nobody has requested car parks yet. */
  state: 'ok' | 'unused' | Problem;
  listed: number;
  /** Number of car parks with a current reading. */
  current: number;
  callsLeft: number;
}

/**
 * The car parks of upstream. It calls upstream only for what is requested: once for each car park with an outdated report, and
 * once for the list if it is older than six hours. Without a response the last reading is shown for 15 minutes.
 */
export class CarParks {
  readonly #client: Pick<CarParkClient, 'fetchList' | 'fetchReport' | 'close'>;
  readonly #store: CarParkStore;
  readonly #meter: DayMeter;
  readonly #clock: Clock;
  readonly #log: Log<'info' | 'warn' | 'error'>;
  readonly #limit = createConcurrencyLimit(AT_ONCE);
  readonly #records = new Map<string, CarParkRecord>();
  readonly #underWay = new Map<string, Promise<void>>();
  #list: CarParkList | null = null;
  #listTriedAt = Number.NEGATIVE_INFINITY;
  #syncedAt = Number.NEGATIVE_INFINITY;
  #sync: Promise<void> | null = null;
  #problem: Problem | null = null;
  #pausedUntil = 0;
  #pauseMs = PAUSE_MS.first;
  #unusableInARow = 0;
  #wasRequested = false;
  readonly #callsADay: number;

  constructor(options: {
    client: Pick<CarParkClient, 'fetchList' | 'fetchReport' | 'close'>;
    /** Counts the calls of all instances. The meter of a single process can continue from a stored count. */
    meter: DayMeter;
    callsADay?: number;
    store?: CarParkStore;
    clock?: Clock;
    log: Log<'info' | 'warn' | 'error'>;
  }) {
    this.#client = options.client;
    this.#meter = options.meter;
    this.#callsADay = options.callsADay ?? CALLS_A_DAY;
    this.#store = options.store ?? noCarParkStore;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
  }

  /**
   * Returns the car parks that `isWanted` accepts, and waits at most `waitMs` for new reports. Throws `ApiError` if there is no
   * list because upstream does not respond or the key may not use the product.
   */
  async fetch(isWanted: (carPark: CarPark) => boolean, { waitMs }: { waitMs: number }): Promise<FoundCarParks> {
    this.#wasRequested = true;
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(waitMs, end, { isBackground: true });
    try {
      return await this.#fetch(isWanted, isOver);
    } finally {
      cancel();
    }
  }

  /** The car park with this ID; null if upstream lists none. Throws like `fetch`. */
  async get(id: string, options: { waitMs: number }): Promise<FoundCarParks | null> {
    const found = await this.fetch((carPark) => carPark.id === id, options);
    if (found.carParks.length > 0) return found;
    // Listed, but not reported yet.
    if (this.#list && Object.hasOwn(this.#list.names, id) && !this.#records.get(id)?.isGone) throw this.#unavailable();
    return null;
  }

  status(): CarParkStatus {
    const ids = Object.keys(this.#list?.names ?? {});
    const state = this.#now() < this.#pausedUntil && this.#problem ? this.#problem : 'ok';
    return {
      state: this.#wasRequested ? state : 'unused',
      listed: ids.length,
      current: ids.filter((id) => (this.#describe(id)?.spacesFree ?? null) !== null).length,
      callsLeft: Math.max(0, this.#callsADay - Math.ceil(this.#meter.spent())),
    };
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.#client.close();
  }

  async #fetch(isWanted: (carPark: CarPark) => boolean, isOver: Promise<void>): Promise<FoundCarParks> {
    const startedAt = this.#now();
    await Promise.race([this.#prepare(), isOver]);
    const list = this.#list;
    if (!list) throw this.#unavailable();
    // Before its first report it is unknown whether a car park is wanted.
    const isChosen = (id: string) => {
      const carPark = this.#describe(id);
      return carPark === null || isWanted(carPark);
    };
    const chosen = Object.keys(list.names).filter((id) => !this.#records.get(id)?.isGone && isChosen(id));
    const freshMs = chosen.length <= FEW ? FRESH_MS.few : FRESH_MS.many;
    const due = chosen.filter((id) => this.#dueAt(id, freshMs) <= this.#now());
    due.sort((a, b) => (this.#records.get(a)?.fetchedAt ?? 0) - (this.#records.get(b)?.fetchedAt ?? 0));
    await Promise.race([Promise.all(due.map((id) => this.#refresh(id))), isOver]);
    return this.#result(chosen, isWanted, { freshMs, startedAt });
  }

  #now(): number {
    return this.#clock.now();
  }

  /** Loads what is stored, and fetches the list if it is too old. */
  async #prepare(): Promise<void> {
    const isSynced = this.#now() - this.#syncedAt < (this.#store.isShared ? SYNC_EVERY_MS : Number.POSITIVE_INFINITY);
    if (!isSynced) {
      this.#sync ??= this.#load().finally(() => {
        this.#sync = null;
      });
      await this.#sync;
    }
    const listDueAt = Math.max((this.#list?.fetchedAt ?? 0) + LIST_FRESH_MS, this.#listTriedAt + PAUSE_MS.first);
    if (listDueAt <= this.#now() || this.#underWay.has(LIST)) {
      const isListed = this.#once(LIST, () => this.#fetchList());
      // An old list is enough for now.
      if (this.#list)
        isListed.catch((error: Error) => this.#log.error({ reason: error.message }, 'the list of car parks'));
      else await isListed;
    }
  }

  async #load(): Promise<void> {
    const { list, records = {}, calls } = await this.#store.load();
    if (list && list.fetchedAt > (this.#list?.fetchedAt ?? 0)) this.#list = list;
    for (const [id, record] of Object.entries(records)) {
      if (record.triedAt > (this.#records.get(id)?.triedAt ?? 0)) this.#records.set(id, record);
    }
    // Without a stored count, a new process assumes that calls were used evenly since the day began.
    if (calls) this.#meter.follow?.(calls.day === this.#day() ? calls.count : 0);
    this.#syncedAt = this.#now();
  }

  #day(): number {
    return Math.floor(this.#now() / DAY_MS);
  }

  async #fetchList(): Promise<void> {
    this.#listTriedAt = this.#now();
    const names = await this.#call(() => this.#client.fetchList());
    if (!names) return;
    this.#list = { names: Object.fromEntries(names), fetchedAt: this.#now() };
    for (const [id, record] of this.#records) {
      // A car park that is listed again may be open again.
      if (record.isGone && names.has(id)) this.#records.set(id, { ...record, isGone: false });
      if (!names.has(id)) this.#records.delete(id);
    }
    this.#store.saveList(this.#list);
    this.#saveAll();
  }

  #dueAt(id: string, freshMs: number): number {
    const record = this.#records.get(id);
    if (!record) return 0;
    return record.triedAt + (record.triedAt === record.fetchedAt ? freshMs : TRY_AGAIN_MS);
  }

  #refresh(id: string): Promise<void> {
    return this.#once(id, () => this.#limit(() => this.#fetchReport(id)));
  }

  /** Joins the work under this name, or starts it. */
  #once(name: string, work: () => Promise<void>): Promise<void> {
    const underWay = this.#underWay.get(name);
    if (underWay) return underWay;
    const started = work().finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, started);
    return started;
  }

  async #fetchReport(id: string): Promise<void> {
    const before = this.#records.get(id) ?? { facility: null, readings: [], fetchedAt: 0, triedAt: 0, isGone: false };
    const isRefused = (failure: CarParkFailure): void => {
      if (failure !== 'gone' && failure !== 'unusable') return;
      this.#saveRecord(id, { ...before, triedAt: this.#now(), isGone: failure === 'gone' });
    };
    const report = await this.#call(() => this.#client.fetchReport(id), isRefused);
    if (!report) return;
    const fetchedAt = this.#now();
    const { facility, reading } = report;
    const readings = withReading(before.readings, reading, fetchedAt);
    this.#saveRecord(id, { facility, readings, fetchedAt, triedAt: fetchedAt, isGone: false });
  }

  #saveRecord(id: string, record: CarParkRecord): void {
    this.#records.set(id, record);
    this.#store.saveRecord(id, record);
    this.#saveAll();
  }

  #saveAll(): void {
    this.#store.saveAll(() => ({
      list: this.#list,
      records: Object.fromEntries(this.#records),
      calls: { day: this.#day(), count: this.#meter.spent() },
    }));
  }

  /** Null without a result; calls `refused` with the reason. */
  async #call<Result>(
    send: () => Promise<Result>,
    refused?: (failure: CarParkFailure) => void,
  ): Promise<Result | null> {
    if (!(await this.#reserveCall())) return null;
    try {
      const result = await send();
      if (this.#problem !== null && this.#problem !== 'day') this.#log.info({}, 'car parks are available again');
      [this.#problem, this.#pausedUntil, this.#pauseMs, this.#unusableInARow] = [null, 0, PAUSE_MS.first, 0];
      return result;
    } catch (error) {
      if (!(error instanceof FailedCall)) throw error;
      refused?.(error.failure);
      this.#recordFailure(error);
      return null;
    }
  }

  /** False while calls are paused, or if none is left. */
  async #reserveCall(): Promise<boolean> {
    const until = this.#now() + MAX_RATE_WAIT_MS;
    for (;;) {
      if (this.#now() < this.#pausedUntil) return false;
      const result = await this.#meter.spend('high');
      if (result.isTaken) return true;
      if (result.why === 'day') this.#pause('day', result.waitMs);
      if (result.why !== 'rate' || this.#now() + result.waitMs > until) return false;
      await sleep(this.#clock, result.waitMs, { isBackground: true });
    }
  }

  #recordFailure({ failure, pauseMs, message }: FailedCall): void {
    if (failure === 'gone') return;
    if (failure === 'unusable' && ++this.#unusableInARow < UNUSABLE_IN_A_ROW) return;
    if (failure === 'not enabled') {
      const fields = { reason: message };
      if (this.#problem !== failure)
        this.#log.error(fields, 'the key may not use the car parks: enable them, or set WITHOUT=carparks');
      this.#pause(failure, NOT_ENABLED_PAUSE_MS);
      return;
    }
    if (this.#problem !== failure) this.#log.warn({ reason: message, failure }, 'car parks are unavailable');
    this.#pause(failure, pauseMs ?? this.#pauseMs);
    this.#pauseMs = Math.min(PAUSE_MS.last, this.#pauseMs * 2);
  }

  #pause(problem: Problem, ms: number): void {
    // Calls in flight together fail together, and only the first failure counts.
    if (this.#now() < this.#pausedUntil && this.#problem === problem) return;
    this.#problem = problem;
    this.#pausedUntil = this.#now() + ms;
  }

  #unavailable(): ApiError {
    if (this.#problem === 'not enabled') return carParksNotEnabled();
    const seconds = Math.max(2, Math.ceil((this.#pausedUntil - this.#now()) / SECOND_MS));
    return new ApiError(
      'UPSTREAM_UNAVAILABLE',
      'Transport for NSW does not report car parks right now. Try again later.',
      {
        headers: { 'retry-after': String(Math.min(seconds, 60)) },
        unavailable: this.#problem === 'day' || this.#problem === 'busy' ? 'day' : 'upstream',
      },
    );
  }

  #result(
    chosen: readonly string[],
    isWanted: (carPark: CarPark) => boolean,
    { freshMs, startedAt }: { freshMs: number; startedAt: number },
  ): FoundCarParks {
    const now = this.#now();
    const listed = chosen.filter((id) => !this.#records.get(id)?.isGone);
    const described = listed.flatMap((id) => this.#describe(id) ?? []);
    const carParks = described.filter(isWanted);
    const unknown = listed.length - described.length;
    // Without any reading, a list of car parks would hide that the key may not use the product.
    if (this.#problem === 'not enabled' && this.status().current === 0) throw this.#unavailable();
    const [isPaused, isPending] = [now < this.#pausedUntil, listed.some((id) => this.#underWay.has(id))];
    const dueAts = listed.map((id) => this.#dueAt(id, freshMs));
    const isOverdue = dueAts.some((dueAt) => dueAt <= now);
    const dueAt = isPaused ? this.#pausedUntil : Math.min(...dueAts);
    const freshUntil = isPending ? now + PENDING_MS : Math.min(now + MAX_FRESH_MS, Math.max(now + PENDING_MS, dueAt));
    const endings = carParks.flatMap(({ spacesFree, reportedAt }) =>
      spacesFree === null || reportedAt === null ? [] : reportedAt + MAX_READING_AGE_MS + 1,
    );
    const fetchedAts = carParks.flatMap(({ id }) => this.#records.get(id)?.fetchedAt || []);
    const isShort = this.#problem === 'day' || this.#problem === 'busy' || this.#problem === 'refused';
    return {
      carParks,
      unknown,
      freshness: {
        retrievedAt: Math.min(now, ...fetchedAts),
        freshUntil,
        staleUntil: freshUntil,
        source: fetchedAts.some((at) => at >= startedAt) ? 'upstream' : 'cache',
        shortage: isPaused && isOverdue ? (isShort ? 'busy' : 'failing') : null,
      },
      ...(endings.length > 0 && { changesAt: Math.min(...endings) }),
    };
  }

  /** Null before the first report. */
  #describe(id: string): CarPark | null {
    const record = this.#records.get(id);
    const name = this.#list?.names[id];
    if (!record?.facility || record.isGone || name === undefined) return null;
    const { facility, readings } = record;
    const { capacity } = facility;
    const last = readings.at(-1);
    const isCurrent = last !== undefined && isCurrentAt(last, this.#now());
    const spacesFree = isCurrent && capacity !== null ? freeOf(last, capacity) : null;
    const change = spacesFree !== null && capacity !== null && last ? changeOf(readings, last, capacity) : null;
    return {
      id,
      ...facility,
      name: facility.name || name,
      spacesFree,
      trend: change === null || capacity === null ? null : trendOf(change, capacity),
      spacesChange: change,
      reportedAt: last?.at ?? null,
    };
  }
}

/** The key of the list in `#underWay`; no ID of a car park has a blank. */
const LIST = 'the list';

function isCurrentAt({ at }: Reading, now: number): boolean {
  return now - at <= MAX_READING_AGE_MS && at - now <= MAX_AHEAD_MS;
}

/** The free spaces, from 0 to the capacity. Counts drift when cars enter or leave unseen, so `taken` may lie outside that range. */
function freeOf({ taken }: Reading, capacity: number): number {
  return Math.min(capacity, Math.max(0, capacity - taken));
}

/** The change in free spaces since the reading closest to half an hour before `last`; null if there is none. */
function changeOf(readings: readonly Reading[], last: Reading, capacity: number): number | null {
  const earlier = readings.filter(({ at }) => last.at - at >= TREND.min && last.at - at <= TREND.max);
  const distance = ({ at }: Reading) => Math.abs(last.at - at - TREND.ms);
  const [nearest] = earlier.sort((a, b) => distance(a) - distance(b));
  return nearest ? freeOf(last, capacity) - freeOf(nearest, capacity) : null;
}

function trendOf(change: number, capacity: number): Trend {
  if (Math.abs(change) < Math.max(1, capacity * STEADY_SHARE)) return 'steady';
  return change < 0 ? 'filling' : 'emptying';
}

/**
 * Adds a reading. Drops those older than an hour, and those of the same or a later time, because upstream may have set its clock
 * back.
 */
function withReading(readings: readonly Reading[], reading: Reading | null, now: number): Reading[] {
  const kept = readings.filter(({ at }) => now - at <= KEPT_READINGS_MS && (!reading || at < reading.at));
  // The last reading stays, however old, so that its time can be shown.
  if (reading === null) return kept.length > 0 ? kept : readings.slice(-1);
  return [...kept, reading];
}
