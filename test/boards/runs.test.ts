import { describe, expect, it } from 'vitest';
import { Runs } from '#src/boards/runs.ts';
import { monitorBoards } from '#src/boards/source.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { parseResponse } from '#src/efa/request.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { parseQuery } from '#src/operations/operation.ts';
import { runOperation } from '#src/operations/runs/operation.ts';
import { noLines } from '#src/operations/sources.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import type { FileId } from '#src/timetable/schedule-files.ts';
import { toDayNumber, toMoment } from '#src/timetable/service-day.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import type { FindAlerts } from '#src/transit/alert.ts';
import type { RunCall } from '#src/transit/call.ts';
import type { Mode } from '#src/transit/mode.ts';
import { writeRunId } from '#src/transit/run-id.ts';
import type { TripSpec } from '#test/realtime/feed-bytes.ts';
import { predict } from '#test/realtime/prediction/predicted.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { ids } from '#test/support/ids.ts';
import { type MadeTrip, scheduleFile } from '#test/support/schedule-file.ts';
import { buildTimetable } from '#test/support/timetable.ts';

const DAY = '20261118';
const SKIPPED = 1;
const NO_DATA = 2;
const ADDED = 1;
const CANCELED = 3;
const REPLACEMENT = 5;

/** The timestamp of a time such as "25:10" or "08:00:30" on a service day. */
function at(time: string, date = DAY): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return toMoment(toDayNumber(date) as number, hours * 3600 + minutes * 60 + seconds);
}
const iso = (moment: number) => new Date(moment).toISOString().replace('.000', '');

const STOPS = ['A', 'B', 'C', 'D'].flatMap((id) => [
  { id, name: `${id} Station`, isStation: true },
  ...[1, 2].map((one) => ({ id: `${id}${one}`, name: `${id} Station Platform ${one}`, parentId: id })),
]);

/** A service with these trips in its timetable and in its feed. Upstream is unavailable unless given. */
function serviceOf(
  trips: readonly MadeTrip[],
  {
    mode = 'train',
    file = 'sydneytrains',
    source = 'sydneytrains',
    isTrusted = true,
    upstream = () => Promise.reject(new ApiError('UPSTREAM_UNAVAILABLE', 'away')),
  }: { mode?: Mode; file?: FileId; source?: FeedSourceId; isTrusted?: boolean; upstream?: () => Promise<never> } = {},
) {
  const routes = [{ id: 'R', shortName: 'T4', mode }];
  const timetableOf = (ofDay: readonly MadeTrip[]) =>
    new Timetable(buildTimetable([scheduleFile(file, { stops: STOPS, routes, trips: ofDay })], { importedAt: 0 }));
  let timetable = timetableOf(trips);
  let moment = at('08:00');
  let feedTrips: TripSpec[] | null = null;
  let callCount = 0;
  const now = () => moment;
  const take = () => {
    const snapshots = feedTrips === null ? [] : [predict(timetable, feedTrips, { source, now: moment })];
    return new LiveTimetable(timetable, snapshots);
  };
  const feeds = {
    request: () => {},
    untilRead: async () => {},
    snapshot: take,
    freshUntil: () => moment + 15_000,
    list: () => [],
  };
  const requestedAlerts: (readonly string[])[] = [];
  const findAlerts: FindAlerts = ({ stopIds }) => {
    requestedAlerts.push(stopIds);
    return [];
  };
  const runs = new Runs({
    now,
    feeds,
    timetable: { get: () => timetable },
    isTrusted: () => isTrusted,
    listAlerts: findAlerts,
  });
  const queryUpstream: QueryUpstream = () => {
    callCount++;
    return upstream();
  };
  const context = {
    queryUpstream,
    runs,
    boards: monitorBoards,
    lines: noLines,
    now: () => moment,
    ids,
    run: () => Promise.reject(new Error('no other operation is run')),
  };
  const find = (id: string) => runOperation.handle(parseQuery(runOperation, { run_id: id }), context);
  const idOf = (runId: string, stopId: string, plannedAt: number) =>
    writeRunId({ runId, stopId, mode, plannedAt }, ids) ?? '';
  const getById = async (id: string) => (await find(id)).body;
  return {
    callCount: () => callCount,
    requestedAlerts,
    /** Moves the clock and replaces the feed; null makes the feed unavailable. */
    advance(to: number, trips: TripSpec[] | null) {
      moment = to;
      feedTrips = trips;
    },
    replaceTimetable(trips: readonly MadeTrip[]) {
      timetable = timetableOf(trips);
    },
    getById,
    findRide: runs.findRide.bind(runs),
    get: (...start: Parameters<typeof idOf>) => getById(idOf(...start)),
    noticesOf: async (...start: Parameters<typeof idOf>) => (await find(idOf(...start))).notices,
  };
}

type Body = Awaited<ReturnType<ReturnType<typeof serviceOf>['getById']>>;
const stopsOf = ({ calls }: Body) => calls?.map(({ stop_id: stopId }) => stopId);
const departuresOf = ({ calls }: Body) => calls?.map(({ departs_at: departsAt }) => departsAt);
const liveOf = ({ calls }: Body) => calls?.map((call) => call.departs_at_realtime ?? call.arrives_at_realtime);

const TRAIN: MadeTrip = {
  id: 'A.1',
  days: [DAY],
  headsign: 'D',
  calls: [
    ['A1', '08:00'],
    ['B1', '08:10', { departure: '08:11:30' }],
    ['C1', '08:20'],
    ['D1', '08:30'],
  ],
};
const calls = (...all: MadeTrip['calls'][number][]) => all;
/** A train that ends its run at B and continues as another run. */
const ONE_VEHICLE: readonly MadeTrip[] = [
  { ...TRAIN, blockId: 'X', calls: calls(['A1', '08:00'], ['B1', '08:10']) },
  { ...TRAIN, id: 'A.2', blockId: 'X', calls: calls(['B1', '08:12'], ['C1', '08:20'], ['D1', '08:30']) },
];
const delayed = (stopId: string, delay: number) => ({ stopId, arrival: { delay }, departure: { delay } });
const late = (delay: number, ...stopIds: string[]) => ({
  tripId: 'A.1',
  stops: stopIds.map((stopId) => delayed(stopId, delay)),
});

describe('a run from the timetable', () => {
  it('a timetable run has live times and its position without an upstream call', async () => {
    const service = serviceOf([TRAIN]);
    service.advance(at('08:14'), [late(120, 'B1', 'C1', 'D1')]);
    const body = await service.get('A.1', 'B1', at('08:11'));
    expect(body).toMatchObject({
      trip_id: 'A.1',
      route: 'T4',
      destination: 'D',
      is_live: true,
      cancelled: false,
      retrieved_at: iso(at('08:14')),
      status: 'between_stops',
      position: 'between B Station and C Station',
      next_run_id: null,
    });
    expect(departuresOf(body)).toEqual([iso(at('08:00')), iso(at('08:11')), iso(at('08:20')), null]);
    expect(liveOf(body)).toEqual([null, iso(at('08:13')), iso(at('08:22')), iso(at('08:32'))]);
    expect(service.callCount()).toBe(0);
  });

  it('a timetable run has the alerts of its platform and station, even at the first station in the timetable', async () => {
    const service = serviceOf([TRAIN]);
    service.advance(at('07:50'), []);
    await service.get('A.1', 'A1', at('08:00'));
    expect(service.requestedAlerts).toEqual([['A1', 'A']]);
  });

  it('a run is live through the feed of its file, whatever its mode, and late by the second of its plan', async () => {
    const service = serviceOf([TRAIN], { mode: 'ferry', file: 'buses', source: 'buses' });
    service.advance(at('07:58'), [late(120, 'A1', 'B1', 'C1', 'D1')]);
    const body = await service.get('A.1', 'A1', at('08:00'));
    expect(body.is_live).toBe(true);
    expect(liveOf(body)?.[1]).toBe(iso(at('08:13:30')));
  });

  it('a timetable run is shown without feeds and upstream until ten minutes after its end', async () => {
    const service = serviceOf([TRAIN]);
    service.advance(at('08:15'), null);
    expect(await service.get('A.1', 'A', at('08:00'))).toMatchObject({ is_live: false, next_stop_id: 'C1' });
    service.advance(at('08:40'), null);
    expect(await service.get('A.1', 'A', at('08:00'))).toMatchObject({ status: 'ended' });
    service.advance(at('08:41'), null);
    await expect(service.get('A.1', 'A', at('08:00'))).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(service.callCount()).toBe(0);
  });

  it('a timetable run has a notice while its feed is unavailable, except for a run of tomorrow', async () => {
    const tomorrow = '20261119';
    const service = serviceOf([{ ...TRAIN, days: [DAY, tomorrow] }]);
    service.advance(at('08:15'), null);
    expect(await service.noticesOf('A.1', 'A', at('08:00'))).toEqual([{ text: 'No live times at present: train.' }]);
    expect(await service.noticesOf('A.1', 'A', at('08:00', tomorrow))).toEqual([]);
    service.advance(at('08:15'), []);
    expect(await service.noticesOf('A.1', 'A', at('08:00'))).toEqual([]);
  });

  it.each([
    ['the station', 'B', '08:11'],
    ['the platform of an arrival', 'B1', '08:10'],
    ['another platform', 'B2', '08:11'],
    ['a stop that the timetable lacks', 'G200', '08:11'],
  ])('a timetable run is found by a run ID that names %s', async (_, stopId, minute) => {
    const service = serviceOf([TRAIN]);
    expect(stopsOf(await service.get('A.1', stopId, at(minute)))).toEqual(['A1', 'B1', 'C1', 'D1']);
  });

  it('a timetable run keeps the last live times of calls that the feed has dropped', async () => {
    const service = serviceOf([TRAIN]);
    service.advance(at('08:05'), [late(120, 'A1', 'B1', 'C1', 'D1')]);
    await service.get('A.1', 'A1', at('08:00'));
    service.advance(at('08:15'), [late(240, 'C1', 'D1')]);
    const expected = [iso(at('08:02')), iso(at('08:13')), iso(at('08:24')), iso(at('08:34'))];
    expect(liveOf(await service.get('A.1', 'A1', at('08:00')))).toEqual(expected);
    service.advance(at('08:26'), null);
    const gone = await service.get('A.1', 'A1', at('08:00'));
    expect(liveOf(gone)).toEqual([...expected.slice(0, 3), null]);
    expect(gone.is_live).toBe(false);
  });

  it('a timetable run keeps no live time of a call that the vehicle has not left, as boards do', async () => {
    const service = serviceOf([TRAIN]);
    service.advance(at('08:05'), [late(-120, 'B1', 'C1', 'D1')]);
    await service.get('A.1', 'A1', at('08:00'));
    const unsure = { stopId: 'B1', scheduleRelationship: NO_DATA };
    service.advance(at('08:10:30'), [{ tripId: 'A.1', stops: [unsure, delayed('C1', 0), delayed('D1', 0)] }]);
    expect(liveOf(await service.get('A.1', 'A1', at('08:00')))?.slice(1, 3)).toEqual([null, iso(at('08:20'))]);
  });

  it('a timetable run keeps no live times of other calls when the timetable is replaced', async () => {
    const service = serviceOf([TRAIN]);
    service.advance(at('08:05'), [late(120, 'A1', 'B1', 'C1', 'D1')]);
    await service.get('A.1', 'A1', at('08:00'));
    const [first, ...others] = TRAIN.calls as MadeTrip['calls'][number][];
    service.replaceTimetable([{ ...TRAIN, calls: [first, ['A2', '08:05'], ...others] as MadeTrip['calls'] }]);
    service.advance(at('08:15'), [late(240, 'C1', 'D1')]);
    const body = await service.get('A.1', 'A1', at('08:00'));
    expect(departuresOf(body)?.slice(0, 3)).toEqual([iso(at('08:00')), iso(at('08:05')), iso(at('08:11'))]);
    expect(liveOf(body)?.slice(0, 2)).toEqual([iso(at('08:02')), null]);
  });

  it('a cancelled timetable run is marked as cancelled, and so is each call', async () => {
    const service = serviceOf([TRAIN]);
    service.advance(at('07:50'), [{ tripId: 'A.1', scheduleRelationship: CANCELED }]);
    const body = await service.get('A.1', 'A1', at('08:00'));
    expect(body).toMatchObject({ cancelled: true, status: 'cancelled', position: null });
    expect(body.calls?.every(({ cancelled }) => cancelled)).toBe(true);
  });

  it('a cancelled timetable run does not continue as the next run of its block', async () => {
    const service = serviceOf(ONE_VEHICLE);
    service.advance(at('07:50'), [{ tripId: 'A.1', scheduleRelationship: CANCELED }]);
    const body = await service.get('A.1', 'A1', at('08:00'));
    expect(body).toMatchObject({ cancelled: true, status: 'cancelled' });
    expect(stopsOf(body)).toEqual(['A1', 'B1']);
    const next = { ...late(120, 'B1', 'C1', 'D1'), tripId: 'A.2' };
    service.advance(at('07:51'), [{ tripId: 'A.1', scheduleRelationship: CANCELED }, next]);
    const untracked = await service.get('A.1', 'A1', at('08:00'));
    expect(untracked).toMatchObject({ cancelled: true, is_live: false });
    expect(liveOf(untracked)).toEqual([null, null]);
    service.advance(at('07:51'), [{ tripId: 'A.2', scheduleRelationship: CANCELED }]);
    const truncated = await service.get('A.1', 'A1', at('08:00'));
    expect(truncated).toMatchObject({ cancelled: false, status: 'not_started' });
    expect(stopsOf(truncated)).toEqual(['A1', 'B1', 'C1', 'D1']);
  });

  it('a timetable run marks a stop that the feed skips as cancelled and never stops there next', async () => {
    const service = serviceOf([TRAIN]);
    const skipped = { stopId: 'B1', scheduleRelationship: SKIPPED };
    service.advance(at('08:05'), [{ tripId: 'A.1', stops: [delayed('A1', 0), skipped, delayed('C1', 0)] }]);
    const body = await service.get('A.1', 'A1', at('08:00'));
    expect(body.calls?.map(({ cancelled }) => cancelled)).toEqual([false, true, false, false]);
    expect(body.next_stop_id).toBe('C1');
  });

  it('a timetable run has the new platform of a moved call', async () => {
    const service = serviceOf([TRAIN]);
    const moved = { stopId: 'C2', departure: { delay: 0, time: at('08:20') / 1000 } };
    service.advance(at('08:05'), [{ tripId: 'A.1', stops: [delayed('B1', 0), moved, delayed('D1', 0)] }]);
    const { calls } = await service.get('A.1', 'A1', at('08:00'));
    expect(calls?.[2]).toMatchObject({ stop_id: 'C2', name: 'C Station', platform: 'Platform 2' });
  });

  it('a run ID selects the service day, past midnight and for the same trip a day later', async () => {
    const night: MadeTrip = {
      ...TRAIN,
      days: [DAY, '20261119'],
      calls: [
        ['A1', '23:50'],
        ['B1', '24:10'],
        ['C1', '24:40'],
      ],
    };
    const service = serviceOf([night]);
    service.advance(at('24:20'), null);
    const first = await service.get('A.1', 'B1', at('24:10'));
    expect(departuresOf(first)).toEqual([iso(at('23:50')), iso(at('24:10')), null]);
    expect(first).toMatchObject({ status: 'between_stops', next_stop_id: 'C1' });
    const second = await service.get('A.1', 'B1', at('24:10', '20261119'));
    expect(second).toMatchObject({ status: 'not_started' });
    expect(departuresOf(second)?.[0]).toBe(iso(at('23:50', '20261119')));
  });

  it.each([['20261003'], ['20261004'], ['20270403'], ['20270404']])(
    'a timetable run has the right times on the service day %s, when clocks change',
    async (day) => {
      const calls = ['01:30', '02:30', '03:30', '26:30'].map((time, index) => [`${'ABCD'[index]}1`, time] as const);
      const service = serviceOf([{ ...TRAIN, days: [day], calls }]);
      service.advance(at('01:00', day), null);
      for (const [stop, time] of calls.slice(0, 3)) {
        const body = await service.get('A.1', stop, at(time, day));
        expect(departuresOf(body)).toEqual([...calls.slice(0, 3).map(([, one]) => iso(at(one, day))), null]);
      }
    },
  );

  it('a timetable run on a loop calls twice at a stop, each time with its own delay', async () => {
    const calls = [
      ['A1', '08:00'],
      ['B1', '08:10'],
      ['C1', '08:20'],
      ['A1', '08:30'],
      ['D1', '08:40'],
    ] as const;
    const service = serviceOf([{ ...TRAIN, calls }], { mode: 'bus', file: 'buses', source: 'buses' });
    const timed = (stopId: string, planned: string, delay: number) => {
      const time = { delay, time: at(planned) / 1000 + delay };
      return { stopId, arrival: time, departure: time };
    };
    const stops = [timed('A1', '08:00', 60), timed('A1', '08:30', 180), timed('D1', '08:40', 240)];
    service.advance(at('07:59'), [{ tripId: 'A.1', startDate: DAY, stops }]);
    const body = await service.get('A.1', 'A1', at('08:30'));
    expect(liveOf(body)).toEqual(['08:01', '08:11', '08:21', '08:33', '08:44'].map((time) => iso(at(time))));
  });

  it('a timetable run lists its stops through the next run of its block, and links to that run', async () => {
    const first = { ...TRAIN, blockId: 'X', headsign: 'B', calls: calls(['A1', '08:00'], ['B1', '08:10']) };
    const second = { ...TRAIN, id: 'A.2', blockId: 'X', calls: calls(['B1', '08:12'], ['C1', '08:20']) };
    const service = serviceOf([first, second]);
    const body = await service.get('A.1', 'A1', at('08:00'));
    expect(stopsOf(body)).toEqual(['A1', 'B1', 'C1']);
    expect(body).toMatchObject({ destination: 'B', through_to: 'D' });
    service.advance(at('07:50'), [{ tripId: 'A.1', scheduleRelationship: CANCELED }]);
    expect(await service.get('A.1', 'A1', at('08:00'))).toMatchObject({ through_to: null });
    service.advance(at('07:50'), []);
    const next = await service.getById(body.next_run_id ?? '');
    expect(next).toMatchObject({ trip_id: 'A.2', through_to: null, next_run_id: null });
    expect(stopsOf(next)).toEqual(['B1', 'C1']);
  });

  it('a ride that goes on in the next run of its block has the live times of both runs', () => {
    const service = serviceOf(ONE_VEHICLE);
    const call = (stopId: string, arrives: string | null, departs: string | null) => {
      const timeOf = (time: string | null) => time && { plannedAt: at(time), realtimeAt: null };
      const place = { stopId, name: stopId, platform: null, position: null, ids: [stopId] };
      return { ...place, arrival: timeOf(arrives), departure: timeOf(departs), occupancy: null, isCancelled: false };
    };
    const ride = {
      runId: 'A.1',
      mode: 'train',
      network: null,
      route: 'T4',
      stopId: 'A1',
      plannedAt: at('08:00'),
    } as const;
    const ends = [call('A1', null, '08:00'), call('C1', '08:20', null)] as RunCall[];
    const listed = [ends[0], call('B1', '08:10', '08:12'), ends[1]] as RunCall[];
    service.advance(at('07:55'), [late(60, 'A1', 'B1'), { ...late(120, 'B1', 'C1', 'D1'), tripId: 'A.2' }]);
    for (const rideCalls of [ends, listed]) {
      const view = service.findRide(ride, rideCalls);
      expect(view?.calls[0]?.departure?.realtimeAt).toBe(at('08:01'));
      expect(view?.calls.at(-1)?.arrival?.realtimeAt).toBe(at('08:22'));
      expect(view?.runCalls?.map(({ stopId }) => stopId)).toEqual(['A1', 'B1', 'C1']);
    }
    service.advance(at('08:15'), [{ ...late(180, 'C1', 'D1'), tripId: 'A.2' }]);
    for (const rideCalls of [ends, listed]) {
      const view = service.findRide(ride, rideCalls);
      expect(view).toMatchObject({ isCancelled: false, isByFeed: true });
      expect(view?.calls.at(-1)?.arrival?.realtimeAt).toBe(at('08:23'));
      expect(view?.calls.at(-1)?.stopId).toBe('C1');
    }
  });

  it('a TrainLink run is found by an ID with the date of another publication', async () => {
    const trip = { ...TRAIN, id: 'ST21.140126.127.0740' };
    const service = serviceOf([trip], { file: 'nswtrains', source: 'nswtrains' });
    const body = await service.get('ST21.281125.127.0740', 'A1', at('08:00'));
    expect(stopsOf(body)).toEqual(['A1', 'B1', 'C1', 'D1']);
  });
});

describe('a run outside the timetable', () => {
  const time = (moment: string) => ({ time: at(moment) / 1000 });
  const stops = [
    { stopId: 'A2', departure: time('08:02') },
    { stopId: 'C2', arrival: time('08:21'), departure: time('08:22') },
    { stopId: 'D2', arrival: time('08:33') },
  ];
  const added = { tripId: 'N.1', routeId: 'R', scheduleRelationship: ADDED, stops };

  it('an added run is shown from its feed without an upstream call', async () => {
    const service = serviceOf([TRAIN]);
    service.advance(at('08:10'), [added]);
    const body = await service.get('N.1', 'A2', at('08:02'));
    expect(body).toMatchObject({ route: 'T4', destination: 'D Station', is_live: true, next_stop_id: 'C2' });
    expect(liveOf(body)).toEqual([iso(at('08:02')), iso(at('08:22')), iso(at('08:33'))]);
    expect(service.callCount()).toBe(0);
  });

  it('an added run ends at the last stop that it does not skip, and is not live without live data', async () => {
    const service = serviceOf([TRAIN]);
    const [first, second, last] = stops;
    const noData = [first, second].map((stop) => ({ ...stop, scheduleRelationship: NO_DATA }));
    const skipped = { ...last, scheduleRelationship: SKIPPED };
    service.advance(at('08:10'), [{ ...added, stops: [...noData, skipped] }]);
    const body = await service.get('N.1', 'A2', at('08:02'));
    expect(body).toMatchObject({ destination: 'C Station', is_live: false });
    expect(liveOf(body)).toEqual([null, null, null]);
  });

  it('a run outside timetable and feeds comes from the departure monitor, errors included', async () => {
    const service = serviceOf([TRAIN]);
    await expect(service.get('N.1', 'A2', at('08:02'))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(service.callCount()).toBe(1);
  });

  it('a ferry or TrainLink run from the departure monitor is also found under another publication date', async () => {
    const { stopEvents, ...rest } = departureMonitor(iso(at('08:02')));
    const properties = { RealtimeTripId: 'ST21.140126.127.0740' };
    const event = { ...stopEvents[0], transportation: { ...stopEvents[0]?.transportation, properties } };
    const request = { kind: 'departureMonitor', stopId: '200060', modes: ['bus'], at: null } as const;
    const payload = parseResponse(request, { ...rest, stopEvents: [event] });
    const upstream = async () => ({ payload, retrievedAt: at('08:00') }) as never;
    const service = serviceOf([TRAIN], { mode: 'bus', upstream });
    expect(await service.get('ST21.281125.127.0740', '2000335', at('08:02'))).toMatchObject({ route: '400' });
  });

  it('a replaced run is found by a departure that its timetable lacks, at any distance from the planned ones', async () => {
    const service = serviceOf([{ ...TRAIN, calls: calls(['A1', '08:00'], ['D1', '10:00']) }]);
    const replaced = { tripId: 'A.1', routeId: 'R', scheduleRelationship: REPLACEMENT, stops };
    service.advance(at('08:10'), [replaced]);
    const body = await service.get('A.1', 'C2', at('08:22'));
    expect(stopsOf(body)).toEqual(['A2', 'C2', 'D2']);
    expect(service.callCount()).toBe(0);
  });
});

describe('a run of an untrusted mode', () => {
  it('a run of an untrusted mode comes from the timetable only when the departure monitor fails', async () => {
    const failing = serviceOf([TRAIN], { isTrusted: false });
    expect(stopsOf(await failing.get('A.1', 'A1', at('08:00')))).toEqual(['A1', 'B1', 'C1', 'D1']);
    expect(failing.callCount()).toBe(1);
    const unknown = () => Promise.reject(new ApiError('STOP_NOT_FOUND', 'none'));
    const refusing = serviceOf([TRAIN], { isTrusted: false, upstream: unknown });
    await expect(refusing.get('A.1', 'A1', at('08:00'))).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});
