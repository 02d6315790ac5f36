import type { Mode } from '../transit/mode.ts';
import type { LiveFeeds } from './live-feeds.ts';
import { isPositions } from './polling/feed-source.ts';

/** How the feeds stand, as one instance sees it. */
export interface LiveReport {
  /** Of the timetable: where it is `off`, no feed is read. */
  mode: 'off' | 'auto' | 'on';
  /** Whether this instance polls for all. */
  isPolling: boolean;
  feeds: ReturnType<LiveFeeds['list']>;
  agreement: Partial<Record<Mode, ModeAgreement>>;
}

/** Returns the part of the status about feeds. */
export function liveFeedsJson({ isPolling, feeds }: LiveReport, now: Date) {
  return {
    polled_by: isPolling ? 'this_instance' : 'another_instance',
    feeds: Object.fromEntries(
      feeds.map(({ source, problem, headerAt, tripCount, foundShare }) => [
        source,
        {
          problem,
          age_seconds: headerAt === null ? null : Math.max(0, Math.round((now.getTime() - headerAt) / 1000)),
          [isPositions(source) ? 'vehicles' : 'trips']: tripCount,
          ...(foundShare !== null && { found_share: shareOf(foundShare, 1) }),
        },
      ]),
    ),
  };
}

/** Rounded down, because 99.96 % shown as 1 would hide disagreement. */
export function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.floor((part / whole) * 1000) / 1000;
}

/** Trust goes by the results of so many departures of a mode. */
export const MOST_COMPARED = 200;

/** How far boards of a mode from the timetable agree with those of the departure monitor. */
export interface ModeAgreement {
  /** The departures compared last, at most `MOST_COMPARED`, and how many of them agreed. */
  compared: number;
  agreed: number;
  /** Boards of the mode come from the timetable. */
  isTrusted: boolean;
}
