import { MINUTE_MS } from '../../core/clock.ts';
import { createBoundedMap } from '../../core/own-memory.ts';
import type { Snapshot } from '../../realtime/snapshot.ts';
import { calendarDayAt, toDate } from '../../timetable/service-day.ts';
import type { Timetable } from '../../timetable/timetable.ts';
import { onTimeRuleOf } from '../../transit/on-time-rule.ts';
import type {
  Figures,
  LinePunctuality,
  PunctualityQuery,
  PunctualityState,
  Usual,
  UsualLookup,
} from '../../transit/punctuality.ts';
import { createLineCount, createStopCount, keysAt } from './figures.ts';
import { type FinishedRun, Recorder } from './recorder.ts';
import { KEPT_DAYS, RunStore } from './store.ts';

/** With fewer departures in the same minute, the figures of the hour are used. */
const MIN_RUNS = 5;
/** Maximum pairs of line and stop whose figures are cached until the day ends. */
const MAX_COUNTED = 500;
/** Maximum runs held while the file cannot be written; the oldest are dropped. */
const MAX_UNWRITTEN = 20_000;

/**
 * The record of past runs: reads snapshots, writes finished runs and computes figures. Its methods block, so it belongs in a
 * thread (see punctuality-thread.ts). Moments are milliseconds since 1970.
 */
export class RunRecord {
  readonly #recorder = new Recorder();
  readonly #path: string;
  readonly #maxBytes: number | undefined;
  readonly #counted = createBoundedMap<ReadonlyMap<string, Figures>>('usual lateness', MAX_COUNTED);
  #store: RunStore | null = null;
  #unwritten: FinishedRun[] = [];
  #problem: string | null = null;
  #countedDay = 0;

  constructor({ path, maxBytes }: { path: string; maxBytes?: number | undefined }) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#attempt(() => this.#openStore());
  }

  use(timetable: Timetable, now: number): void {
    this.#unwritten.push(...this.#recorder.use(timetable, now));
  }

  record(snapshot: Snapshot): void {
    this.#recorder.record(snapshot);
  }

  /** Adds finished runs; `write` saves them. */
  add(runs: readonly FinishedRun[]): void {
    this.#unwritten.push(...runs);
  }

  /** Writes the runs that are over, joins what was written on earlier days, and deletes what is too old. */
  write(now: number): void {
    this.#unwritten.push(...this.#recorder.finish(now));
    this.#writeAll(now);
  }

  #writeAll(now: number): void {
    const today = calendarDayAt(now);
    this.#attempt(() => {
      const store = this.#openStore();
      store.add(this.#unwritten);
      this.#unwritten = [];
      // Runs of yesterday may go on until noon.
      store.join(today - 1);
      store.prune(today);
    });
    if (this.#unwritten.length > MAX_UNWRITTEN) this.#unwritten = this.#unwritten.slice(-MAX_UNWRITTEN);
  }

  /** A full disk or a broken file stops the record; it goes on when the file can be written again. */
  #attempt(task: () => void): void {
    try {
      task();
      this.#problem = null;
    } catch (error) {
      this.#problem = (error as Error).message.replaceAll(/\s+/g, ' ');
    }
  }

  #openStore(): RunStore {
    this.#store ??= new RunStore(this.#path, this.#maxBytes === undefined ? {} : { maxBytes: this.#maxBytes });
    return this.#store;
  }

  find(query: PunctualityQuery, now: number): LinePunctuality {
    const count = createLineCount({ ...query, stopIds: query.stopIds && new Set(query.stopIds) });
    const fromDay = calendarDayAt(now) - Math.min(query.days, KEPT_DAYS) + 1;
    for (const [day, runs] of this.#list(query.lineId, fromDay, now)) count.addDay(day, runs);
    const { days, ...figures } = count.figures();
    return { ...figures, days: days.map(toDate) };
  }

  *#list(lineId: string, fromDay: number, now: number) {
    const unwritten = [
      ...this.#unwritten.filter((run) => run.lineId === lineId),
      ...this.#recorder.listOpen(lineId, now),
    ];
    yield* this.#openStore().list(lineId, { fromDay }, unwritten);
  }

  /** Uses only the days before today, because they no longer change. */
  findUsual({ lineId, mode, route, stopId, plannedAt }: UsualLookup, now: number): Usual | null {
    const today = calendarDayAt(now);
    if (today !== this.#countedDay) this.#counted.clear();
    this.#countedDay = today;
    const key = `${lineId} ${stopId}`;
    let figures = this.#counted.get(key);
    if (!figures) {
      const count = createStopCount(stopId, onTimeRuleOf({ mode, route }));
      const range = { fromDay: today - KEPT_DAYS + 1, untilDay: today };
      for (const [day, runs] of this.#openStore().list(lineId, range)) count.addDay(day, runs);
      figures = count.figures();
      this.#counted.set(key, figures);
    }
    const { hour, minute } = keysAt(plannedAt);
    const [ofMinute, ofHour] = [figures.get(minute), figures.get(hour)];
    if (ofMinute && ofMinute.runs >= MIN_RUNS) return { ...ofMinute, basis: 'run' };
    return ofHour ? { ...ofHour, basis: 'hour' } : null;
  }

  get isEmpty(): boolean {
    return (this.#store?.since() ?? null) === null;
  }

  state(): PunctualityState {
    try {
      return { since: this.#store?.since() ?? null, bytes: this.#store?.bytes() ?? 0, problem: this.#problem };
    } catch (error) {
      return { since: null, bytes: 0, problem: (error as Error).message };
    }
  }

  /** Writes all runs, including unfinished ones. */
  close(now: number): void {
    this.#unwritten.push(...this.#recorder.finish(now, { isAll: true }));
    this.#writeAll(now);
    this.#store?.close();
    this.#store = null;
  }
}

/** How often the runs that are over are written. */
export const WRITE_EVERY_MS = 10 * MINUTE_MS;
