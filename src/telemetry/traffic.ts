import { z } from 'zod';
import { MINUTE_MS } from '../clock.ts';
import { SHORTAGES } from '../efa/ask.ts';
import { addBucket, addRecords, addResponse, type Bucket, createBucket } from './traffic-bucket.ts';

const MINUTES = 24 * 60;
export const QUARTER_MINUTES = 15;
export const DAY_QUARTERS = MINUTES / QUARTER_MINUTES;

export const upstreamHealthSchema = z.object({
  /** 1 is the whole budget, 0 is nothing left for now. */
  budgetLeft: z.number(),
  /** Upstream has failed several times in a row and is not asked for a while. */
  isBreakerOpen: z.boolean(),
  /** Why no plan gets further calls for now; instances of earlier versions do not say. */
  shortage: z.enum(SHORTAGES).nullish(),
});
/** State of the layers that protect upstream. */
export type UpstreamHealth = z.infer<typeof upstreamHealthSchema>;

/** The numbers at one moment. */
export interface TrafficView {
  /** All of the last so many minutes in one. */
  recent(minutes: number): Bucket;
  /** The last 24 hours by the quarter of an hour, the present quarter first. */
  quarters(): Bucket[];
  lastUpstreamResponse: Date | null;
  /** The numbers are those of so many instances, or of this one because the others' could not be read. */
  scope: { instances: number } | 'this instance';
  /** The health that all those instances see; null where only this one's is known. */
  health: UpstreamHealth | null;
}

/** The responses of the last day of this process: a ring of minutes, whose size does not depend on how many requests there are. */
export class Traffic {
  protected readonly now: () => Date;
  readonly #ring = new Array<{ at: number; bucket: Bucket } | undefined>(MINUTES);
  #lastUpstreamResponse: Date | null = null;

  constructor(now: () => Date) {
    this.now = now;
  }

  answered(operation: string, status: number, durationMs: number): void {
    addResponse(this.#current(), operation, status, durationMs);
  }

  upstreamResponded(records: number, liveRecords: number): void {
    addRecords(this.#current(), records, liveRecords);
    this.#lastUpstreamResponse = this.now();
  }

  view(): Promise<TrafficView> {
    return this.ownView();
  }

  /** The numbers of this instance alone. */
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
    const known = this.#ring[at % MINUTES];
    if (known?.at === at) return known.bucket;
    const bucket = createBucket();
    this.#ring[at % MINUTES] = { at, bucket };
    return bucket;
  }

  #recent(minutes: number): Bucket {
    const oldest = minuteOf(this.now()) - minutes;
    const total = createBucket();
    for (const minute of this.#ring) if (minute && minute.at > oldest) addBucket(total, minute.bucket);
    return total;
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
export function minuteOf(moment: Date): number {
  return Math.floor(moment.getTime() / MINUTE_MS);
}

/** Quarters of an hour since 1970. */
export function quarterOf(minute: number): number {
  return Math.floor(minute / QUARTER_MINUTES);
}
