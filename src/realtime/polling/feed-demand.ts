import { HOUR_MS, MINUTE_MS } from '../../clock.ts';
import { DecayingCount, TwoGenerations } from '../../decaying-count.ts';
import { textNumber } from '../../own-memory.ts';
import type { FeedSourceId, PositionsId } from './feed-source.ts';

/** Boards that need the same feeds. */
export interface FeedDemand {
  sources: readonly FeedSourceId[];
  /** Calls of the departure monitor that living feeds would save. */
  savedAnHour: number;
}

/** The demand of the callers of one instance. */
export interface InstanceDemand {
  demand: readonly FeedDemand[];
  /** When a board that needs the feed was last requested. */
  askedAt: Partial<Record<FeedSourceId, number>>;
  /** The same of the positions of vehicles. */
  watchedAt: Partial<Record<PositionsId, number>>;
}

/** Positions are polled for so long after each request for them: streams repeat theirs sooner. */
export const WATCHED_MS = MINUTE_MS;

/** A response of the departure monitor is fresh for so long. */
const WINDOW_MS = 15_000;
/** A timetable of forty departures lasts this long at a busy stop; at most stops it lasts longer. */
const TIMETABLE_MS = 30 * MINUTE_MS;
const HALF_LIFE_MS = 5 * MINUTE_MS;
/** A steady rate r sums up to r * half-life / ln 2. */
const RATE_AN_HOUR = (HOUR_MS / HALF_LIFE_MS) * Math.LN2;

/**
 * Counts how many calls the feeds would save: a board that is requested again after its response is no longer fresh costs a
 * call without feeds and none with them, as long as its timetable lasts.
 */
export class FeedDemandCounter {
  readonly #now: () => number;
  /** The last window in which each board was requested. */
  readonly #windows: TwoGenerations;
  readonly #saved = new Map<string, { sources: readonly FeedSourceId[]; calls: DecayingCount }>();
  readonly #askedAt: InstanceDemand['askedAt'] = {};
  readonly #watchedAt: InstanceDemand['watchedAt'] = {};

  constructor(now: () => number) {
    this.#now = now;
    this.#windows = new TwoGenerations(TIMETABLE_MS, now);
  }

  /** Counts one request for a board. `key` is the request, without the moment. */
  note(key: string, sources: readonly FeedSourceId[]): void {
    const now = this.#now();
    for (const source of sources) this.#askedAt[source] = now;
    const { current, previous } = this.#windows.open();
    const window = Math.floor(now / WINDOW_MS);
    const name = textNumber(key);
    const last = current.get(name) ?? previous.get(name);
    current.set(name, window);
    if (last === undefined || last === window) return;
    const sorted = [...sources].sort();
    const saved = this.#saved.get(sorted.join()) ?? { sources: sorted, calls: new DecayingCount(HALF_LIFE_MS) };
    saved.calls.add(1, now);
    this.#saved.set(sorted.join(), saved);
  }

  /** Counts a request for the positions of vehicles. */
  watch(sources: readonly PositionsId[]): void {
    for (const source of sources) this.#watchedAt[source] = this.#now();
  }

  read(): InstanceDemand {
    const demand = [...this.#saved.values()].map(({ sources, calls }) => ({
      sources,
      savedAnHour: calls.read(this.#now()) * RATE_AN_HOUR,
    }));
    return { demand, askedAt: this.#askedAt, watchedAt: this.#watchedAt };
  }
}
