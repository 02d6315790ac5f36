import type { Mode } from '../transit/mode.ts';
import type { LiveFeeds } from './live-feeds.ts';
import { isPositions } from './polling/feed-source.ts';
import type { LeftOutOfFeed } from './snapshot.ts';

/** The state of the feeds, as seen by one instance. */
export interface LiveReport {
  /** The mode of the timetable; when it is `off`, no feed is read. */
  mode: 'off' | 'auto' | 'on';
  /** Whether this instance polls for all instances. */
  isPolling: boolean;
  feeds: ReturnType<LiveFeeds['list']>;
  agreement: Partial<Record<Mode, ModeAgreement>>;
}

/** Returns the feeds' part of the status. */
export function liveFeedsJson({ isPolling, feeds }: LiveReport, now: number) {
  return {
    polled_by: isPolling ? 'this_instance' : 'another_instance',
    feeds: Object.fromEntries(
      feeds.map(({ source, problem, headerAt, tripCount, foundShare, leftOut }) => [
        source,
        {
          problem,
          age_seconds: headerAt === null ? null : Math.max(0, Math.round((now - headerAt) / 1000)),
          [isPositions(source) ? 'vehicles' : 'trips']: tripCount,
          ...(foundShare !== null && { found_share: shareOf(foundShare, 1) }),
          left_out: Object.fromEntries(listLeftOut(leftOut).map(({ reason, count }) => [reason, count])),
        },
      ]),
    ),
  };
}

/** Parts of a feed that are not understood, most frequent reason first. */
export function listLeftOut(leftOut: LeftOutOfFeed): { reason: string; count: number; examples: string[] }[] {
  return Object.entries(leftOut)
    .map(([reason, about]) => ({ reason, ...about }))
    .sort((one, other) => other.count - one.count);
}

/** A share with three decimals; null for a whole of 0. Rounded down, because rounding 99.96 % up to 1 would hide disagreement. */
export function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.floor((part / whole) * 1000) / 1000;
}

/** How many of the last departures of a mode are compared to decide whether its boards are trusted. */
export const MAX_COMPARED = 200;

/** How well the boards of the timetable and of the departure monitor agree, for one mode. */
export interface ModeAgreement {
  /** The last departures compared, at most `MAX_COMPARED`, and how many of them agreed. */
  compared: number;
  agreed: number;
  /** Whether boards of this mode come from the timetable. */
  isTrusted: boolean;
}
