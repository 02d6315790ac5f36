import { type Clock, SECOND_MS } from '../core/clock.ts';
import { BACKGROUND, type Turn } from '../core/turn-queue.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import { ApiError } from '../errors/api-error.ts';
import { withLastDay } from '../errors/messages.ts';
import type { RequestedFields } from '../transit/additional-fields.ts';
import type { Choices } from '../transit/choices.ts';
import type { Freshness } from '../transit/freshness.ts';
import { destinationOf, isCancelled, type Journey, originOf } from '../transit/journey.ts';
import type { LeftOutCounts } from '../transit/left-out.ts';
import type { Mode } from '../transit/mode.ts';
import type { Place } from '../transit/place.ts';
import type { WallClock } from '../transit/time.ts';

export const MOST_VIA = 2;
export const MOST_STAY_MINUTES = 240;

/** What all searches have in common. */
export interface RiderQuery {
  /** Null means now. */
  at: WallClock | null;
  modes: readonly Mode[];
  isAccessible: boolean;
  /** Only the timetable has journeys by a rider's choices. */
  choices?: Choices | undefined;
}

/** A query for journeys between two places, the same for both sources. */
export interface JourneyQuery extends RiderQuery {
  from: Place;
  to: Place;
  isArrival: boolean;
  cancelled: RequestedFields['cancelled'];
  maxChanges?: number | undefined;
  /** Leaves out rides that must be booked. The trip planner's are left out afterwards. */
  withoutBooking?: boolean | undefined;
  /** Stops on the way, in order, with the minimum stay at each. Only the timetable has journeys with them. */
  via?: readonly { stopId: string; stayMinutes: number }[] | undefined;
  /**
   * The number of journeys with `via` to search; by default as many as in other searches of the timetable. Other searches ignore
   * it.
   */
  limit?: number;
  /** Names of the parameters that each journey must match. */
  conditions?: readonly string[] | undefined;
  /** If true, an empty list is a valid result; otherwise it is an error. */
  mayBeNone?: boolean;
}

/** The source of the journeys, and why it is not the default one. */
export interface JourneyOrigin {
  source: 'timetable' | 'planner';
  /** One of a few fixed texts, used as a metric label. */
  reason?: string;
}

/** `freshness` is that of the oldest response or feed that was used. */
export interface FoundJourneys {
  /** At least one, unless `mayBeNone`. */
  journeys: Journey[];
  leftOut: LeftOutCounts;
  freshness: Freshness;
  origin: JourneyOrigin;
  /** Whether the search ended at its deadline, so that there may be more or better journeys. */
  isPartial?: boolean;
  /** The names of both ends, if the source knows them. */
  names?: { from: string | null; to: string | null };
}

/** What a search may use: upstream, and the caller's turn in the queue of timetable searches. */
interface JourneyContext {
  queryUpstream: QueryUpstream;
  turn?: Turn | undefined;
}

/**
 * Finds journeys. If there are none, throws the error for the caller: `NO_JOURNEYS_FOUND`, `STOP_NOT_FOUND` or
 * `DATE_OUT_OF_RANGE`.
 */
export interface Journeys {
  fetch(query: JourneyQuery, context: JourneyContext): Promise<FoundJourneys>;
}

/** The timetable as a source of journeys. */
export interface TimetableJourneys {
  /** Whether the timetable has both ends and covers the time. */
  covers(query: JourneyQuery): boolean;
  /** `YYYYMMDD`; null while there is no timetable. */
  lastDay(): string | null;
  fetch(query: JourneyQuery, turn?: Turn): Promise<FoundJourneys>;
}

export const JOURNEY_MODES = ['auto', 'planner', 'timetable'] as const;
export type JourneyMode = (typeof JOURNEY_MODES)[number];

/** After this time the timetable is used instead of the trip planner, if it covers the query. */
const PATIENCE_MS = 3 * SECOND_MS;
/** Journeys of the timetable count as worse if they arrive later than the trip planner's by more than this. */
const AS_GOOD_MS = 180 * SECOND_MS;

/**
 * Uses the trip planner while it responds and calls are left, otherwise the timetable. Calls `compared` with whether the
 * timetable's best journey is about as good as the trip planner's.
 */
export function chooseJourneys(options: {
  mode: Exclude<JourneyMode, 'planner'>;
  planner: Journeys;
  timetable: TimetableJourneys;
  /** Whether calls are short or the trip planner is failing. */
  isScarce: () => boolean;
  clock: Clock;
  compared?: (agrees: boolean) => void;
}): Journeys {
  const { mode, planner, timetable, isScarce, clock, compared } = options;
  let isComparing = false;

  const byTimetable = async (query: JourneyQuery, turn: Turn | undefined, reason: string): Promise<FoundJourneys> => {
    const result = await timetable.fetch(query, turn);
    return { ...result, origin: { source: 'timetable', reason } };
  };

  /** Runs one comparison at a time; queries that arrive meanwhile are not compared. */
  async function compare(query: JourneyQuery, planned: FoundJourneys): Promise<void> {
    // Only the timetable avoids stops where a lift is out of service.
    if (!compared || isComparing || query.isAccessible || planned.freshness.source !== 'upstream') return;
    const running = planned.journeys.filter((journey) => !isCancelled(journey));
    if (running.length === 0) return;
    isComparing = true;
    try {
      const found = await timetable.fetch(query, BACKGROUND);
      if (!found.isPartial) compared(isAsGood(found.journeys, running, query.isArrival));
    } catch (error) {
      // A search that got no turn says nothing about the timetable.
      if (!(error instanceof ApiError) || error.statusCode < 500) compared(false);
    } finally {
      isComparing = false;
    }
  }

  return {
    async fetch(query, context) {
      const { turn } = context;
      if (needsTimetable(query)) return byTimetable(query, turn, query.via?.length ? 'via' : 'choices');
      if (!timetable.covers(query)) {
        return planner.fetch(query, context).catch((error) => {
          throw withLastDay(error, timetable.lastDay());
        });
      }
      if (mode === 'timetable') return byTimetable(query, turn, 'by setting');
      // The trip planner has neither option, and perhaps none of its few journeys would fit.
      if (query.withoutBooking || query.maxChanges !== undefined) return byTimetable(query, turn, 'options');
      if (isScarce()) return byTimetable(query, turn, 'calls are short');
      const planned = planner.fetch(query, context);
      let cancel = () => {};
      const timeout = new Promise<null>((resolve) => {
        cancel = clock.after(PATIENCE_MS, () => resolve(null));
      });
      try {
        const result = await Promise.race([planned, timeout]);
        if (!result) {
          planned.catch(() => {});
          return await byTimetable(query, turn, 'the trip planner is slow');
        }
        void compare(query, result);
        return result;
      } catch (error) {
        if (!(error instanceof ApiError) || error.statusCode < 500) throw error;
        const reason = error.isBudgetExhausted ? 'calls are short' : 'the trip planner fails';
        // If both fail, operators need to know why upstream did.
        return await byTimetable(query, turn, reason).catch((ours) => {
          throw ours instanceof ApiError && ours.statusCode < 500 ? ours : error;
        });
      } finally {
        cancel();
      }
    },
  };
}

/** Whether only the timetable can plan such journeys. */
export function needsTimetable({ via, choices }: Partial<JourneyQuery>): boolean {
  return Boolean(via?.length) || choices !== undefined;
}

/** Whether our best journey arrives (for arrivals by a time: leaves) about as well as theirs. */
function isAsGood(ours: readonly Journey[], theirs: readonly Journey[], isArrival: boolean): boolean {
  const best = (journeys: readonly Journey[]) =>
    isArrival
      ? Math.min(...journeys.map((journey) => -originOf(journey).plannedAt))
      : Math.min(...journeys.map((journey) => destinationOf(journey).plannedAt));
  return best(ours) <= best(theirs) + AS_GOOD_MS;
}
