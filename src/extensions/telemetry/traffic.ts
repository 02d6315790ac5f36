import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { SHORTAGES } from '../../efa/query-upstream.ts';

const MINUTES = 24 * 60;
export const QUARTER_MINUTES = 15;
export const DAY_QUARTERS = MINUTES / QUARTER_MINUTES;

export const upstreamHealthSchema = z.object({
  /** Share of the call budget left: 0 to 1. */
  budgetLeft: z.number(),
  /** True while calls are paused after several failures. */
  isBreakerOpen: z.boolean(),
  /** Why no calls are available; missing from instances of earlier versions. */
  shortage: z.enum(SHORTAGES).nullish(),
});
/** State of the layers that protect upstream. */
export type UpstreamHealth = z.infer<typeof upstreamHealthSchema>;

/** Traffic at one moment. */
export interface TrafficView {
  /** Sums the last `minutes`. */
  recent(minutes: number): Bucket;
  /** The last 24 hours in quarters of an hour, newest first. */
  quarters(): Bucket[];
  lastUpstreamResponse: number | null;
  /** Number of instances included, or only this one because the others could not be read. */
  scope: { instances: number } | 'this instance';
  /** Worst health of all instances; null if only this one's is known. */
  health: UpstreamHealth | null;
}

/** This process's responses of the last day, in a ring of minutes. Its size does not depend on traffic. */
export class Traffic {
  protected readonly now: () => number;
  readonly #ring = new Array<{ at: number; bucket: Bucket } | undefined>(MINUTES);
  #lastUpstreamResponse: number | null = null;

  constructor(now: () => number) {
    this.now = now;
  }

  answered(operation: string, status: number, durationMs: number): void {
    addResponse(this.#current(), operation, status, durationMs);
  }

  upstreamResponded(): void {
    this.#lastUpstreamResponse = this.now();
  }

  boardMade(board: BoardCounts): void {
    addBoards(this.#current(), board);
  }

  getView(): Promise<TrafficView> {
    return this.ownView();
  }

  /** Traffic of this instance only. */
  async ownView(): Promise<TrafficView> {
    return {
      recent: (minutes) => this.#recent(minutes),
      quarters: () => this.#quarters(),
      lastUpstreamResponse: this.#lastUpstreamResponse,
      scope: { instances: 1 },
      health: null,
    };
  }

  #current(): Bucket {
    const at = minuteOf(this.now());
    const existing = this.#ring[at % MINUTES];
    if (existing?.at === at) return existing.bucket;
    const bucket = createBucket();
    this.#ring[at % MINUTES] = { at, bucket };
    return bucket;
  }

  #recent(minutes: number): Bucket {
    const oldest = minuteOf(this.now()) - minutes;
    return sumOf(this.#ring.flatMap((minute) => (minute && minute.at > oldest ? minute.bucket : [])));
  }

  #quarters(): Bucket[] {
    const newest = quarterOf(minuteOf(this.now()));
    const totals = Array.from({ length: DAY_QUARTERS }, createBucket);
    for (const minute of this.#ring) {
      const total = minute && totals[newest - quarterOf(minute.at)];
      if (total) addBucket(total, minute.bucket);
    }
    return totals;
  }
}

/** Minutes since 1970. */
export function minuteOf(moment: number): number {
  return Math.floor(moment / MINUTE_MS);
}

/** Quarters of an hour since 1970. */
export function quarterOf(minute: number): number {
  return Math.floor(minute / QUARTER_MINUTES);
}

/** Ratio of histogram steps: 0.5 ms, 0.57 ms … 40 s. */
const STEP = 1.15;
const FIRST_MS = 0.5;
const STEPS = 82;

const BOARD_COUNTS = ['boards', 'timetableBoards', 'departures', 'liveDepartures'] as const;
/** Counts of boards, boards from the timetable, departures on boards, and live departures. */
export type BoardCounts = Record<(typeof BOARD_COUNTS)[number], number>;

/** Responses and boards of a period of time. */
export interface Bucket extends BoardCounts {
  operations: Map<string, OperationCounts>;
}

export function createBucket(): Bucket {
  return { operations: new Map(), boards: 0, timetableBoards: 0, departures: 0, liveDepartures: 0 };
}

export function addResponse(bucket: Bucket, operation: string, status: number, durationMs: number): void {
  const counts = countsOf(bucket, operation);
  counts.answered += 1;
  if (status >= 500) counts.failed += 1;
  const step = stepOf(durationMs);
  counts.durations[step] = (counts.durations[step] ?? 0) + 1;
}

export function addBoards(bucket: Bucket, counts: BoardCounts): void {
  for (const name of BOARD_COUNTS) bucket[name] += counts[name];
}

export function addBucket(bucket: Bucket, { operations, ...counts }: Bucket): void {
  addBoards(bucket, counts);
  for (const [operation, { answered, failed, durations }] of operations) {
    const counts = countsOf(bucket, operation);
    counts.answered += answered;
    counts.failed += failed;
    for (const [step, count] of durations.entries()) counts.durations[step] = (counts.durations[step] ?? 0) + count;
  }
}

export function sumOf(buckets: readonly Bucket[]): Bucket {
  const total = createBucket();
  for (const bucket of buckets) addBucket(total, bucket);
  return total;
}

/** The responses of one operation within a window. */
export interface OperationSummary {
  operation: string;
  answered: number;
  /** 0 to 1; null without traffic. */
  successRate: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
}

export function summarise({ operations }: Bucket, operation: string): OperationSummary {
  const { answered, failed, durations } = operations.get(operation) ?? noCounts();
  return {
    operation,
    answered,
    successRate: answered === 0 ? null : 1 - failed / answered,
    p50Ms: quantile(durations, answered, 0.5),
    p95Ms: quantile(durations, answered, 0.95),
  };
}

/** 0 to 1; null if no board had a departure. */
export function liveShareOf({ departures, liveDepartures }: Bucket): number | null {
  return departures === 0 ? null : liveDepartures / departures;
}

/** 0 to 1; null if no board was made. */
export function timetableShareOf({ boards, timetableBoards }: Bucket): number | null {
  return boards === 0 ? null : timetableBoards / boards;
}

/** Lists non-zero counts as flat fields that can be summed. */
export function toFields(bucket: Bucket): [name: string, count: number][] {
  const fields = BOARD_COUNTS.map((name): [string, number] => [name, bucket[name]]);
  for (const [operation, { answered, failed, durations }] of bucket.operations) {
    fields.push([`answered ${operation}`, answered], [`failed ${operation}`, failed]);
    for (const [step, count] of durations.entries()) fields.push([`${step} ${operation}`, count]);
  }
  return fields.filter(([, count]) => count !== 0);
}

/** Parses such fields; ignores unknown ones. */
export function fromFields(fields: Readonly<Record<string, string>>): Bucket {
  const bucket = createBucket();
  for (const [name, text] of Object.entries(fields)) {
    const count = Number(text);
    if (!Number.isSafeInteger(count)) continue;
    const board = BOARD_COUNTS.find((board) => board === name);
    if (board) bucket[board] = count;
    const [, field, operation] = /^(answered|failed|\d+) (.+)$/.exec(name) ?? [];
    if (!field || !operation) continue;
    const counts = countsOf(bucket, operation);
    if (field === 'answered') counts.answered = count;
    else if (field === 'failed') counts.failed = count;
    else counts.durations[Number(field)] = count;
  }
  return bucket;
}

function countsOf({ operations }: Bucket, operation: string) {
  const existing = operations.get(operation);
  if (existing) return existing;
  const counts = noCounts();
  operations.set(operation, counts);
  return counts;
}

interface OperationCounts {
  answered: number;
  /** Responses with status 500 or higher. */
  failed: number;
  /** By step of the histogram. */
  durations: Uint32Array;
}

function noCounts(): OperationCounts {
  return { answered: 0, failed: 0, durations: new Uint32Array(STEPS) };
}

function stepOf(durationMs: number): number {
  const step = Math.ceil(Math.log(Math.max(durationMs, FIRST_MS) / FIRST_MS) / Math.log(STEP));
  return Math.min(STEPS - 1, step);
}

/** Returns the upper bound of the histogram step that contains the quantile. */
function quantile(durations: Uint32Array, answered: number, share: number): number | null {
  if (answered === 0) return null;
  let left = Math.ceil(answered * share);
  const step = durations.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return Number((FIRST_MS * STEP ** Math.max(0, step)).toPrecision(2));
}
