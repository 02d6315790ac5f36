import { describe, expect, it } from 'vitest';
import { markLifts } from '#src/journeys/lifts.ts';
import { timetableReach } from '#src/journeys/reach.ts';
import { compareJourneys } from '#src/journeys/selection.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import type { FindLiftsOut, LiftOut } from '#src/transit/alert.ts';
import type { Journey } from '#src/transit/journey.ts';
import { MODES } from '#src/transit/mode.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import { datesFrom, scheduleFile } from '../support/schedule-file.ts';
import { currentOf, timetableOf } from '../support/timetable.ts';

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const days = datesFrom('20261120', '20261212');

const station = (id: string, name: string, lat: number) => ({ id, name, lat, lng: 150, isStation: true });
const part = (id: string, parentId: string, lat: number) => ({ id, name: id, parentId, lat, lng: 150 });
const run = (id: string, route: string, ...calls: [string, string][]) => ({ id, route, days, calls });

/** Trains run from A to C, directly and with a change at B or D. Slower buses run from a stand of A to one of C. */
const TIMETABLE = timetableOf(
  scheduleFile('sydneytrains', {
    stops: [
      station('10', 'A', -33),
      part('101', '10', -33),
      part('102', '10', -33),
      part('109', '10', -33.001),
      station('20', 'B', -33.2),
      part('201', '20', -33.2),
      station('40', 'D', -33.3),
      part('401', '40', -33.3),
      station('30', 'C', -33.5),
      part('301', '30', -33.5),
      part('302', '30', -33.5),
      part('309', '30', -33.501),
    ],
    routes: [
      { id: 'T', mode: 'train' },
      { id: 'U', mode: 'train' },
      { id: 'R', mode: 'bus' },
    ],
    trips: [
      run('direct', 'T', ['101', '08:10'], ['301', '08:30']),
      run('first', 'T', ['102', '08:40'], ['201', '08:50'], ['401', '09:00']),
      run('second', 'U', ['201', '09:05'], ['401', '09:15'], ['302', '09:25']),
      run('bus', 'R', ['109', '09:00'], ['309', '10:00']),
    ],
  }),
);
const engine = createInlineEngine(TIMETABLE);

const out = (stopId: string, ...platforms: string[]): LiftOut => ({ alertId: `lift ${stopId}`, stopId, platforms });

/** The journeys from A to C while these lifts are out of service, marked and in the order of a response. */
async function find(
  lifts: LiftOut[],
  more: { isAccessible?: boolean; findLiftsOut?: FindLiftsOut; via?: { stopId: string; stayMinutes: number }[] } = {},
) {
  const { findLiftsOut = () => lifts, isAccessible = true, via } = more;
  const source = timetableJourneys({
    timetable: currentOf(TIMETABLE),
    engines: engine,
    feeds: null,
    listLiftsOut: findLiftsOut,
    now: () => EIGHT,
  });
  const at = { date: '20261126', time: '0800' };
  const query = { from: '10', to: '30', at, isArrival: false, modes: MODES, isAccessible, mayBeNone: true } as const;
  const { journeys } = await source.fetch({ ...query, via, cancelled: 'exclude' });
  return journeys.map((journey) => markLifts(journey, findLiftsOut)).sort(compareJourneys);
}
const written = (journeys: readonly Journey[]) =>
  journeys.map(({ legs }) => legs.flatMap(({ mode, runId }) => (mode === 'walk' ? [] : runId)).join(' '));
const marks = (journeys: readonly Journey[]) => journeys.map(({ liftsOut }) => liftsOut?.map(({ stopId }) => stopId));

describe('lifts out of service', () => {
  it('a journey avoids the platforms that an alert names, and no others of the station', async () => {
    expect(written(await find([]))).toContain('direct');
    expect(written(await find([out('30', '301')]))).toEqual(['first second', 'bus']);
    expect(written(await find([out('30', '302')]))).toEqual(['direct', 'bus']);
    expect(written(await find([out('10', '101'), out('30', '302')]))).toEqual(['bus']);
  });

  it('an alert about a station concerns its trains and not its bus stands', async () => {
    const journeys = await find([out('30')]);
    expect(written(journeys)).toEqual(['bus']);
    expect(marks(journeys)).toEqual([[]]);
  });

  it('a journey changes at another station if a lift is out of service', async () => {
    const changesAt = async (lifts: LiftOut[]) => {
      const journeys = await find([out('30', '301'), ...lifts]);
      return journeys[0]?.legs.map(({ destination }) => destination.stopId);
    };
    expect(await changesAt([out('20')])).toEqual(['401', '302']);
    expect(await changesAt([out('40')])).toEqual(['201', '302']);
  });

  it('a journey with via avoids stops whose lift is out of service', async () => {
    const via = [{ stopId: '30', stayMinutes: 0 }];
    expect(written(await find([], { via }))).toContain('direct');
    expect(written(await find([out('30', '301')], { via }))).not.toContain('direct');
    expect(written(await find([out('30', '301', '302', '309')], { via }))).toContain('direct');
  });

  it('a journey that needs a lift is marked when there is no other', async () => {
    const lifts = [out('30', '301', '302', '309')];
    const journeys = await find(lifts);
    expect(written(journeys)).toContain('direct');
    expect(journeys.find(({ legs }) => legs[0]?.runId === 'direct')?.liftsOut).toEqual([
      { stopId: '301', name: '301', alertId: 'lift 30' },
    ]);
    expect(marks(journeys).flat().length).toBe(journeys.length);
  });

  it('lifts are avoided with `wheelchair=true` only, at the time of the journey', async () => {
    const untilHalfPast = (at: number) => (at < EIGHT + 30 * 60_000 ? [out('10', '101', '102', '109')] : []);
    const journeys = await find([], { findLiftsOut: untilHalfPast });
    expect(written(journeys)).toEqual(['first second', 'bus', 'direct']);
    expect(marks(journeys)).toEqual([[], [], ['101']]);
    const all = await find([out('20'), out('10')], { isAccessible: false });
    expect(written(all)).toEqual(['bus', 'direct', 'first second']);
    expect(marks(all)).toEqual([[], ['101'], ['102', '201']]);
  });

  it('with `wheelchair=true` no place is reached by a lift that is out of service', async () => {
    const reached = async (lifts: LiftOut[], isAccessible = true) => {
      const findLiftsOut = () => lifts;
      const reach = timetableReach({
        timetable: currentOf(TIMETABLE),
        engines: engine,
        feeds: null,
        listLiftsOut: findLiftsOut,
        now: () => EIGHT,
      });
      const query = { from: '10', at: { date: '20261126', time: '0800' }, modes: MODES, isAccessible };
      const { stations } = await reach.search({ ...query, minutes: 90, limit: 10, isArea: false });
      const { destinations } = await reach.times({ ...query, to: ['30'] });
      const { journey } = destinations[0] as (typeof destinations)[0];
      return [stations.map(({ stopId, ride }) => `${stopId} ${ride?.route}`), written(journey ? [journey] : [])];
    };
    const all = [['30 T', '20 T', '40 T'], ['direct']];
    expect(await reached([])).toEqual(all);
    expect(await reached([out('30', '301')])).toEqual([['20 T', '40 T', '30 U'], ['first second']]);
    expect(await reached([out('30', '301', '302', '309'), out('20')])).toEqual([['40 T'], []]);
    expect(await reached([out('30', '301')], false)).toEqual(all);
  });

  it('journeys are not marked while no alerts are known', async () => {
    const journeys = await find([], { findLiftsOut: () => null });
    expect(written(journeys)).toContain('direct');
    expect(journeys.map(({ liftsOut }) => liftsOut)).toEqual(journeys.map(() => null));
  });
});
