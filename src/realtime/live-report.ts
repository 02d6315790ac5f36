import type { Mode } from '../transit/mode.ts';
import type { LiveFeeds } from './live-feeds.ts';
import { isPositions } from './polling/feed-source.ts';

/**
 * `off`: no feed is polled. `shadow`: feeds are polled and compared with the departure monitor. `on`: boards are made of
 * timetables and feeds.
 */
export const LIVE_MODES = ['off', 'shadow', 'on'] as const;
export type LiveMode = (typeof LIVE_MODES)[number];

/** How the feeds stand, as one instance sees it. */
export interface LiveReport {
  mode: LiveMode;
  /** Whether this instance polls for all. */
  isPolling: boolean;
  feeds: ReturnType<LiveFeeds['list']>;
  agreement: Partial<Record<Mode, ModeAgreement>>;
  timelines: { entries: number; bytes: number };
}

/** Returns the part of the status about feeds. */
export function liveFeedsJson({ mode, isPolling, feeds, agreement }: LiveReport, now: Date) {
  return {
    mode,
    polled_by: isPolling ? 'this_instance' : 'another_instance',
    feeds: Object.fromEntries(
      feeds.map(({ source, problem, headerAt, tripCount }) => [
        source,
        {
          problem,
          age_seconds: headerAt === null ? null : Math.max(0, Math.round((now.getTime() - headerAt) / 1000)),
          [isPositions(source) ? 'vehicles' : 'trips']: tripCount,
        },
      ]),
    ),
    agreement: Object.fromEntries(
      Object.entries(agreement).map(([mode, { compared, live, cancelled, bothLive, time }]) => [
        mode,
        { compared, live: share(live, compared), cancelled: share(cancelled, compared), time: share(time, bothLive) },
      ]),
    ),
  };
}

/** Rounded down, because 99.96 % shown as 1 would hide disagreement. */
function share(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.floor((part / whole) * 1000) / 1000;
}

/** Counts how often the feeds agree with the departure monitor, since the process began. */
export interface ModeAgreement {
  /** The departures within the next hour whose feed was alive. */
  compared: number;
  /** Both agree whether it is live. */
  live: number;
  /** Both agree whether it is cancelled. */
  cancelled: number;
  /** Both call it live. */
  bothLive: number;
  /** Both call it live, and their times are within 30 seconds. */
  time: number;
}
