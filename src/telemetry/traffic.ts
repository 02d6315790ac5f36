import type { Shortage } from '../efa/ask.ts';
import { addAnswer, addBucket, type Bucket, createBucket } from './traffic-bucket.ts';

/*
 * What was answered in the last day. A process by itself keeps it in a ring buffer of minutes: its size does not depend
 * on the traffic.
 */

const MINUTES = 24 * 60;
export const QUARTER_MINUTES = 15;
export const DAY_QUARTERS = MINUTES / QUARTER_MINUTES;

/** State of the layers that protect upstream. */
export interface UpstreamHealth {
  /** 1 is the whole budget, 0 is nothing left for now. */
  budgetLeft: number;
  /** Upstream has failed several times in a row and is not asked for a while. */
  isBreakerOpen: boolean;
  /** Why no plan gets further calls for now; instances of earlier versions do not say. */
  shortage?: Shortage | null | undefined;
}

/** The numbers at one moment. */
export interface TrafficView {
  /** All of the last so many minutes in one. */
  recent(minutes: number): Bucket;
  /** The last 24 hours by the quarter of an hour, the present quarter first. */
  quarters(): Bucket[];
  lastUpstreamResponse: Date | null;
  /** Whose numbers these are: of so many instances, or of this one because the others' could not be read. */
  scope: { instances: number } | 'this instance';
  /** Of all those instances; null where only this one's is known. */
  health: UpstreamHealth | null;
}

export interface Traffic {
  answered(operation: string, status: number, durationMs: number): void;
  upstreamResponded(records: number, liveRecords: number): void;
  view(): Promise<TrafficView>;
  /** The numbers of this instance alone. */
  ownView(): Promise<TrafficView>;
}

export function createTraffic(now: () => Date): Traffic {
  const ring = new Array<{ at: number; bucket: Bucket } | undefined>(MINUTES);
  let lastUpstreamResponse: Date | null = null;

  function current(): Bucket {
    const at = minuteOf(now());
    const known = ring[at % MINUTES];
    if (known?.at === at) return known.bucket;
    const bucket = createBucket();
    ring[at % MINUTES] = { at, bucket };
    return bucket;
  }

  function recent(minutes: number): Bucket {
    const oldest = minuteOf(now()) - minutes;
    const total = createBucket();
    for (const minute of ring) if (minute && minute.at > oldest) addBucket(total, minute.bucket);
    return total;
  }

  function quarters(): Bucket[] {
    const newest = quarterOf(minuteOf(now()));
    const totals = Array.from({ length: DAY_QUARTERS }, createBucket);
    for (const minute of ring) {
      const total = minute && totals[newest - quarterOf(minute.at)];
      if (total) addBucket(total, minute.bucket);
    }
    return totals;
  }

  const view = async (): Promise<TrafficView> => ({
    recent,
    quarters,
    lastUpstreamResponse,
    scope: { instances: 1 },
    health: null,
  });

  return {
    answered: (operation, status, durationMs) => addAnswer(current(), operation, status, durationMs),
    upstreamResponded(records, liveRecords) {
      const bucket = current();
      bucket.records += records;
      bucket.liveRecords += liveRecords;
      lastUpstreamResponse = now();
    },
    view,
    ownView: view,
  };
}

/** Minutes since 1970. */
export function minuteOf(moment: Date): number {
  return Math.floor(moment.getTime() / 60_000);
}

/** Quarters of an hour since 1970. */
export function quarterOf(minute: number): number {
  return Math.floor(minute / QUARTER_MINUTES);
}
