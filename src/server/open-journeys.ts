import { type Clock, SECOND_MS, systemClock, within } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { JourneyEngines } from '../journeys/engines.ts';
import { plannerJourneys } from '../journeys/planner/planner.ts';
import { type Reach, timetableReach } from '../journeys/reach.ts';
import { chooseJourneys, type JourneyMode, type JourneyOrigin, type Journeys } from '../journeys/source.ts';
import { timetableJourneys } from '../journeys/timetable.ts';
import type { LiveFeeds } from '../realtime/live-feeds.ts';
import type { StopRegister } from '../stops/register.ts';
import type { CurrentTimetable } from '../timetable/update/keep-current.ts';
import type { FindAlerts, FindLiftsOut } from '../transit/alert.ts';

/** A service whose threads do not start in this time serves everything else. */
const PREPARED_MS = 10 * SECOND_MS;

/** Opens the journey sources: the trip planner, and unless disabled the worker threads that plan from the timetable. */
export function openJourneys(options: {
  mode: JourneyMode;
  timetable: CurrentTimetable;
  feeds: LiveFeeds | null;
  stops: StopRegister;
  listAlerts: FindAlerts;
  listLiftsOut: FindLiftsOut;
  isScarce: () => boolean;
  log: Log<'warn' | 'error'>;
  clock?: Clock;
  record: (origin: JourneyOrigin) => void;
  compared: (agrees: boolean) => void;
}): {
  journeys: Journeys;
  reach: Reach | null;
  /** Whether the threads start with the timetable that the service starts with. */
  isPreparing(): boolean;
  close(): Promise<void>;
} {
  const { mode, timetable, feeds, stops, clock = systemClock, record, log } = options;
  const planner = plannerJourneys(stops);
  const engines =
    mode === 'planner' || timetable.status().mode === 'off'
      ? null
      : new JourneyEngines({
          log,
          now: clock.now,
          snapshotFor: feeds ? (current) => feeds.snapshotFor(current) : undefined,
        });

  let isPreparing = false;

  async function prepareFirst(prepared: Promise<void>): Promise<void> {
    isPreparing = true;
    await within(PREPARED_MS, prepared, () => new Error('the threads do not start')).catch(() => {});
    isPreparing = false;
  }

  function choose(): Journeys {
    if (!engines || mode === 'planner') return planner;
    const current = timetable.get();
    if (current) void prepareFirst(engines.prepare(current));
    timetable.beforeChange((next) => engines.prepare(next));
    timetable.onChange((newest) => engines.use(newest));
    const byTimetable = timetableJourneys({ ...options, engines, now: clock.now });
    return chooseJourneys({ ...options, mode, planner, timetable: byTimetable, clock });
  }

  const journeySource = choose();
  return {
    journeys: {
      async fetch(query, context) {
        const journeys = await journeySource.fetch(query, context);
        record(journeys.origin);
        return journeys;
      },
    },
    reach: engines && timetableReach({ ...options, engines, now: clock.now }),
    isPreparing: () => isPreparing,
    close: async () => engines?.close(),
  };
}
