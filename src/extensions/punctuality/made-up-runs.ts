import { Int32Column } from '../../core/columns.ts';
import { hash32 } from '../../timetable/packed-timetable.ts';
import { calendarDayAt, DAYS_OF_WEEK, toMoment } from '../../timetable/service-day.ts';
import type { Timetable } from '../../timetable/timetable.ts';
import { CANCELLED } from './day-runs.ts';
import { type FinishedRun, toPlannedRun } from './recorder.ts';

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
      const planned = toPlannedRun(timetable, trip, day);
      const luck = hash32(`${timetable.tripIdOf(trip)} ${toMoment(day, planned.seconds.valueAt(0))}`) >>> 0;
      // Most are a little late, a few early, and one in eight is stuck on the way.
      const delay = (luck % 150) - 30 + (luck % 8 === 0 ? 240 : 0);
      const isCancelled = luck % CANCELLED_ONE_OF === 0;
      const lateAt = (at: number) => (isCancelled ? CANCELLED : Math.round(delay * (0.5 + at / 20)));
      runs.push({ ...planned, late: Int32Column.from(planned.stopIds, (_, at) => lateAt(at)) });
    }
    yield runs;
  }
}
