import { type Clock, systemClock } from '../core/clock.ts';
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
import type { Preparations } from './preparations.ts';

/** Opens the journey sources: the trip planner, and unless disabled the worker threads that plan from the timetable. */
export function openJourneys(options: {
  mode: JourneyMode;
  timetable: CurrentTimetable;
  feeds: LiveFeeds | null;
  stops: StopRegister;
  listAlerts: FindAlerts;
  listLiftsOut: FindLiftsOut;
  isScarce: () => boolean;
  /** Keeps the service from being ready until the threads have started with the first timetable. */
  preparations: Preparations;
  log: Log<'warn' | 'error'>;
  clock?: Clock;
  record: (origin: JourneyOrigin) => void;
  compared: (agrees: boolean) => void;
}): {
  journeys: Journeys;
  reach: Reach | null;
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

  function choose(): Journeys {
    if (!engines || mode === 'planner') return planner;
    const current = timetable.get();
    if (current) options.preparations.add('journeys cannot be planned yet', engines.prepare(current));
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
    close: async () => engines?.close(),
  };
}
