import { textNumber } from '../../own-memory.ts';
import type { FeedSourceId } from './feed-source.ts';

/*
 * How many calls the feeds would save: a board that is asked for again after its response is no longer fresh costs a
 * call today and none with the feeds, as long as its timetable lasts.
 */

/** Boards that need the same feeds. */
export interface FeedDemand {
  sources: readonly FeedSourceId[];
  /** Calls of the departure monitor that living feeds would save. */
  savedAnHour: number;
}

export interface FeedDemandRecorder {
  /** Counts one request for a board. `key` is the request, without the moment. */
  note(key: string, sources: readonly FeedSourceId[]): void;
  list(): FeedDemand[];
}

const HOUR_MS = 3_600_000;
/** For so long a response of the departure monitor is fresh today. */
const WINDOW_MS = 15_000;
/** A timetable of forty departures lasts this long at a busy stop; at most stops it lasts longer. */
const TIMETABLE_MS = 30 * 60_000;
const HALF_LIFE_MS = 5 * 60_000;
const MAX_QUESTIONS = 50_000;

/** Counts that halve every five minutes; the requests of the last half hour to hour are remembered. */
export function createFeedDemand({ now }: { now: () => number }): FeedDemandRecorder {
  let current = new Map<number, number>();
  let previous = new Map<number, number>();
  let since = now();
  const rates = new Map<string, { sources: readonly FeedSourceId[]; count: number; at: number }>();

  function note(key: string, sources: readonly FeedSourceId[]): void {
    const moment = now();
    if (moment - since >= TIMETABLE_MS || current.size >= MAX_QUESTIONS) {
      previous = current;
      current = new Map();
      since = moment;
    }
    const window = Math.floor(moment / WINDOW_MS);
    const name = textNumber(key);
    const last = current.get(name) ?? previous.get(name);
    current.set(name, window);
    if (last !== undefined && last !== window) count(sources, moment);
  }

  function count(sources: readonly FeedSourceId[], moment: number): void {
    const set = [...sources].sort();
    const rate = rates.get(set.join()) ?? { sources: set, count: 0, at: moment };
    rates.set(set.join(), { sources: set, count: decayed(rate, moment) + 1, at: moment });
  }

  return {
    note,
    list() {
      const moment = now();
      // A steady rate r sums up to r * half-life / ln 2.
      const anHour = (HOUR_MS / HALF_LIFE_MS) * Math.LN2;
      return [...rates.values()].map((rate) => ({
        sources: rate.sources,
        savedAnHour: decayed(rate, moment) * anHour,
      }));
    },
  };
}

function decayed({ count, at }: { count: number; at: number }, moment: number): number {
  return count * 0.5 ** (Math.max(0, moment - at) / HALF_LIFE_MS);
}
