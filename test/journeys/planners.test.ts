import { expect, it, onTestFinished, vi } from 'vitest';
import { DAY_MS, HOUR_MS, systemClock } from '#src/core/clock.ts';
import { KEPT_DAYS } from '#src/journeys/engine-messages.ts';
import { createPlanners } from '#src/journeys/planners.ts';
import type { SharedLines } from '#src/journeys/raptor/lines.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { snapshotOf } from '../support/snapshots.ts';
import { ONE_BUS, timetableOf } from '../support/timetable.ts';

const DATE = '20261125';
/** 08:00 in Sydney. */
const NOW = Date.parse('2026-11-24T21:00:00Z');
const TODAY = 20_782;
const timetable = timetableOf(ONE_BUS);
const walkTo = (stop: string) => [{ stop: timetable.findStop(stop) as number, seconds: 0 }];

const liveWith = (delay: number) => {
  const stops = ['1', '2'].map((stopId, index) => {
    const time = { delay, time: NOW / 1000 + (10 + index * 30) * 60 + delay };
    return { stopId, arrival: time, departure: time };
  });
  const trips = [{ tripId: 'only', startDate: DATE, stops }];
  return new LiveTimetable(timetable, [snapshotOf(timetable, { timestamp: NOW / 1000, trips })]);
};

function openPlanners(share?: (day: number, lines: SharedLines) => void) {
  const { sections, stopCount } = timetable;
  const access = { trips: new Uint8Array(timetable.tripCount).fill(1), stops: new Uint8Array(stopCount).fill(1) };
  const footpaths = { first: sections.walkStart, targets: sections.walkStop, seconds: sections.walkSeconds };
  return createPlanners(timetable, footpaths, access, () => {}, share);
}

it('new live times are written in place of the old ones, and leave the lines of the timetable', () => {
  const planners = openPlanners();
  const openAt = (now: number) => planners.open({ at: now, now }).planner;
  const arrivals = ({ plan }: ReturnType<typeof openAt>, isArrival: boolean) => {
    const common = { maxRides: 3, walkSeconds: null, modes: 255, isWheelchair: false, limit: 1, changeSeconds: 0 };
    const ends = { access: walkTo('1'), egress: walkTo('2') };
    return plan({ ...common, ...ends, at: isArrival ? 12 * 3600 : 7 * 3600, isArrival }).map((one) => one.arrivesAt);
  };
  const atMinute = (minute: number) => [(8 * 60 + minute) * 60];

  const planned = openAt(NOW);
  expect(arrivals(planned, false)).toEqual(atMinute(40));
  planners.use(liveWith(60));
  const before = openAt(NOW);
  expect([arrivals(before, false), arrivals(before, true)]).toEqual([atMinute(41), atMinute(41)]);
  planners.use(liveWith(180));
  const after = openAt(NOW + 10_000);
  expect(after.lines).toBe(before.lines);
  expect([arrivals(after, false), arrivals(after, true)]).toEqual([atMinute(43), atMinute(43)]);
  planners.use(new LiveTimetable(timetable));
  expect(planned.lines.starts.length).toBeGreaterThan(0);
  expect(arrivals(openAt(NOW + 20_000), true)).toEqual(atMinute(40));
});

it('a run that a feed cancels tomorrow is not planned, by departure or by arrival', () => {
  const planners = openPlanners();
  const cancelled = { tripId: 'only', startDate: '20261126', scheduleRelationship: 3, stops: [] };
  planners.use(new LiveTimetable(timetable, [snapshotOf(timetable, { timestamp: NOW / 1000, trips: [cancelled] })]));
  const countAt = (day: number, hour: number, isArrival: boolean) => {
    const at = NOW + day * DAY_MS + (hour - 8) * HOUR_MS;
    const { planner, secondsAt } = planners.open({ at, now: NOW });
    const common = { maxRides: 3, walkSeconds: null, modes: 255, isWheelchair: false, limit: 1, changeSeconds: 0 };
    const ends = { access: walkTo('1'), egress: walkTo('2') };
    return planner.plan({
      ...common,
      ...ends,
      at: secondsAt(at),
      isArrival,
      bound: secondsAt(at) + (isArrival ? -6 : 6) * 3600,
    }).length;
  };
  expect([0, 1, 2].map((day) => countAt(day, 8, false))).toEqual([1, 0, 1]);
  expect([0, 1, 2].map((day) => countAt(day, 12, true))).toEqual([1, 0, 1]);
});

it('a thread keeps the lines of yesterday, today, tomorrow and the days searched last, and frees those of other days at once', () => {
  const planners = openPlanners();
  const openDay = (day: number) => planners.open({ at: NOW, now: NOW, day }).planner;
  const near = [-1, 0, 1].map((days) => openDay(TODAY + days));
  const far = Array.from({ length: 10 }, (_, index) => openDay(TODAY + 2 + index));
  const kept = KEPT_DAYS - near.length;
  expect([-1, 0, 1].map((days) => openDay(TODAY + days))).toEqual(near);
  expect(far.map(({ lines }) => lines.firstRun.length > 0)).toEqual(far.map((_, index) => index >= 10 - kept));
  expect(openDay(TODAY + 11)).toBe(far[9]);
  expect(openDay(TODAY + 2).lines.firstRun.length).toBeGreaterThan(0);
  expect(timetable.sections.offsets.length).toBeGreaterThan(0);
});

it('for a minute after memory was short, a thread keeps the lines of only two days', () => {
  const clock = vi.spyOn(systemClock, 'now').mockReturnValue(NOW);
  onTestFinished(() => clock.mockRestore());
  const planners = openPlanners();
  const openDay = (day: number) => planners.open({ at: NOW, now: NOW, day }).planner;
  const open = () => [-1, 0, 1].map((days) => openDay(TODAY + days));
  const keptOf = (opened: ReturnType<typeof open>) => opened.map(({ lines }) => lines.firstRun.length > 0);
  const before = open();
  planners.closeOthers(TODAY);
  expect(keptOf(before)).toEqual([false, true, false]);
  expect(keptOf(open())).toEqual([false, true, true]);
  clock.mockReturnValue(NOW + 61_000);
  expect(keptOf(open())).toEqual([true, true, true]);
});

it('threads search the same lines of yesterday, today and tomorrow, and lines of their own on other days', () => {
  const shared = new Map<number, SharedLines>();
  const [maker, taker] = [openPlanners((day, lines) => shared.set(day, structuredClone(lines))), openPlanners()];
  const days = [-2, -1, 0, 1, 2].map((days) => TODAY + days);
  const open = (planners: typeof maker, day: number) => planners.open({ at: NOW, now: NOW, day }).planner.lines;
  for (const day of days) open(maker, day);
  expect([...shared.keys()]).toEqual(days.slice(1, -1));
  for (const [day, lines] of shared) {
    // A thread may have made the same lines at the same time.
    open(taker, day);
    taker.adopt(day, lines);
    const { starts, offsets } = open(taker, day);
    expect(starts.buffer).toBe(lines.planned.starts.buffer);
    expect(starts).toEqual(open(maker, day).starts);
    expect(offsets).toBe(timetable.sections.offsets);
  }
});
