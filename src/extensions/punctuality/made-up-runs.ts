import { Int32Column } from '../../core/columns.ts';
import { hash32 } from '../../timetable/packed-timetable.ts';
import { calendarDayAt, DAYS_OF_WEEK, serviceDayStart } from '../../timetable/service-day.ts';
import type { Timetable } from '../../timetable/timetable.ts';
import { CANCELLED } from './day-runs.ts';
import type { FinishedRun } from './recorder.ts';

/** How many days before today a new sandbox makes up, so that callers can try everything at once. */
const DAYS = DAYS_OF_WEEK;
const CANCELLED_ONE_OF = 80;

/** Makes up the runs of each of the last days, from the timetable of the same weekday. They are the same on every start. */
export function* makeUpRuns(timetable: Timetable, now: number): Generator<FinishedRun[]> {
  const today = calendarDayAt(now);
  for (let day = today - DAYS; day < today; day++) {
    const services = timetable.servicesOn(day + DAYS);
    const runs: FinishedRun[] = [];
    for (let trip = 0; trip < timetable.tripCount; trip++) {
      if (services[timetable.sections.tripService.valueAt(trip)] !== 1) continue;
      const planned = timetable.calls(trip, day);
      const start = serviceDayStart(day);
      const luck = hash32(`${timetable.tripIdOf(trip)} ${planned[0]?.departsAt}`) >>> 0;
      // Most are a little late, a few early, and one in eight is stuck on the way.
      const delay = (luck % 150) - 30 + (luck % 8 === 0 ? 240 : 0);
      const isCancelled = luck % CANCELLED_ONE_OF === 0;
      runs.push({
        day,
        lineId: timetable.routeOf(timetable.patternOf(trip)).lineId.toUpperCase(),
        identity: 0,
        stopIds: planned.map(({ stop }) => timetable.stop(stop).id),
        seconds: Int32Column.from(planned, ({ departsAt, arrivesAt }, at) =>
          Math.round(((at === planned.length - 1 ? arrivesAt : departsAt) - start) / 1000),
        ),
        late: Int32Column.from(planned, (_, at) => (isCancelled ? CANCELLED : Math.round(delay * (0.5 + at / 20)))),
      });
    }
    yield runs;
  }
}
