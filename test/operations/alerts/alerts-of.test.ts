import { beforeEach, describe, expect, it } from 'vitest';
import { AlertList } from '#src/alerts/alert-list.ts';
import { nextTurn } from '#src/core/event-loop-turn.ts';
import type { Priority } from '#src/core/turn-queue.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { parseResponse } from '#src/efa/request.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import type { AlertSubject } from '#src/transit/alert.ts';

const NOW = Date.parse('2026-11-20T02:00:00Z');
const line = (number: string, productClass: number, network: number, more: object = {}) => ({
  number,
  disassembledName: number,
  product: { class: productClass, id: network },
  ...more,
});
const notice = (subtitle: string, type: string, more: object = {}) => ({
  type,
  priority: 'normal',
  subtitle,
  timestamps: { validity: [{ from: '2026-11-19T00:00:00Z', to: '2500-12-31T00:00:00Z' }] },
  ...more,
});
const onLines = (...lines: object[]) => ({ affected: { lines } });
const atStops = (stopIDglobalID: string) => ({ properties: { stopIDglobalID } });
const T1 = line('T1', 1, 1);

let current: unknown[];
let calls: number;
let sent: (Priority | undefined)[];
let now: number;
let list: AlertList;
let isUnreachable: boolean;

beforeEach(() => {
  [current, calls, now, isUnreachable] = [[], 0, NOW, false];
  sent = [];
  const queryUpstream = (async (request: Parameters<QueryUpstream>[0], options: Parameters<QueryUpstream>[1]) => {
    calls++;
    sent.push(options?.priority);
    if (isUnreachable) throw new Error('away');
    return { payload: parseResponse(request, { infos: { current } }), retrievedAt: now };
  }) as unknown as QueryUpstream;
  list = new AlertList({ now: () => now, stops: new StopRegister(noStops), queryUpstream });
});

/** The list is read in several turns, behind work of other tests that still waits for its own. */
async function listRead(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

/** The alerts of a T1 train at platform 5 of Town Hall, unless `call` overrides it. */
async function alertsOf(call: Partial<AlertSubject> = {}) {
  const subject: AlertSubject = {
    mode: 'train',
    route: 'T1',
    network: 1,
    tripId: 'run-1',
    stopIds: ['2000395', '200070'],
    at: NOW,
    ...call,
  };
  list.alertsOf(subject);
  await listRead();
  return list.alertsOf(subject);
}
const textsOf = async (call: Partial<AlertSubject> = {}) => (await alertsOf(call)).map(({ text }) => text);

describe('the alerts of a call', () => {
  it('a call has the alerts of its stop, then of its line, then of its run, each text once', async () => {
    current = [
      notice('Late', 'tripMessage', onLines({ ...T1, trips: [{ realtimeTripId: 'run-1' }] })),
      notice('Line', 'lineInfo', onLines(T1)),
      notice('Station', 'stopInfo', atStops('200070')),
      notice('Lift', 'infrastructure', atStops('200070:2000395,2000396')),
      notice('Line', 'lineInfo', onLines(T1, line('T2', 1, 1))),
      notice('Other run', 'tripMessage', onLines({ ...T1, trips: [{ realtimeTripId: 'run-2' }] })),
      notice('Other line', 'lineInfo', onLines(line('T2', 1, 1))),
      notice('Other stop', 'stopInfo', atStops('200060')),
      notice('Everywhere', 'bannerInfo'),
    ];
    expect(await textsOf()).toEqual(['Lift', 'Station', 'Line', 'Late']);
  });

  it('a call of a ferry or TrainLink run has the alerts of the run, also under another publication date', async () => {
    const trips = [{ realtimeTripId: 'AB12.290826.32.2319' }];
    current = [notice('Late', 'tripMessage', onLines({ ...line('F1', 9, 10), trips }))];
    expect(await textsOf({ mode: 'ferry', route: 'F1', tripId: 'AB12.050926.32.2319' })).toEqual(['Late']);
    expect(await textsOf({ mode: 'ferry', route: 'F1', tripId: 'AB12.050926.32.2349' })).toEqual([]);
  });

  it('a call has the alerts of its platform and of the station, not of other platforms', async () => {
    current = [notice('Escalator', 'infrastructure', atStops('200070:2000395,2000396'))];
    expect(await textsOf({ stopIds: ['2000396', '200070'] })).toEqual(['Escalator']);
    expect(await textsOf({ stopIds: ['200070'], mode: 'lightrail', route: 'L2' })).toEqual(['Escalator']);
    expect(await textsOf({ stopIds: ['2000391', '200070'] })).toEqual([]);
  });

  it('a call has no alert of a line with the same number in another mode or network', async () => {
    current = [
      notice('Sydney', 'lineInfo', onLines(line('324', 5, 5))),
      notice('Wauchope', 'lineInfo', onLines(line('324', 5, 33))),
    ];
    expect(await textsOf({ mode: 'bus', route: '324', network: 5 })).toEqual(['Sydney']);
    expect(await textsOf({ mode: 'bus', route: '324', network: null })).toEqual(['Sydney', 'Wauchope']);
    expect(await textsOf({ mode: 'schoolbus', route: '324', network: 5 })).toEqual([]);
  });

  it('a call has only alerts valid at its time', async () => {
    const validity = [{ from: '2026-11-21T00:00:00Z', to: '2026-11-22T00:00:00Z' }];
    current = [notice('Tomorrow', 'lineInfo', { ...onLines(T1), timestamps: { validity } })];
    expect(await textsOf()).toEqual([]);
    expect(await textsOf({ at: Date.parse('2026-11-21T02:00:00Z') })).toEqual(['Tomorrow']);
  });

  it('alerts of a call that restrict wheelchairs are marked as such', async () => {
    const content = 'Some services may not be wheelchair accessible.';
    current = [
      notice('Accessible buses', 'lineInfo', { ...onLines(T1), content, priority: 'veryLow' }),
      notice('Late', 'lineInfo', onLines(T1)),
    ];
    expect((await alertsOf()).map(({ restrictsWheelchairs }) => restrictsWheelchairs)).toEqual([true, false]);
  });
});

describe('lifts out of service', () => {
  /** The stops of `liftsOut`, by alert text. */
  async function liftsAt(at: number) {
    list.liftsOut(at);
    await listRead();
    return list.liftsOut(at)?.map(({ stopId, platforms }) => [stopId, ...platforms].join(' '));
  }
  const facility = (subtitle: string, stopIDglobalID: string, cause?: string, more: object = {}) => ({
    ...notice(subtitle, 'infrastructure', {
      properties: { stopIDglobalID, announcementType: 'liftsEscalators', EquipmentReason: cause },
    }),
    ...more,
  });

  it('a lift is out of service by its cause or by the text, at its stop or platforms', async () => {
    current = [
      facility('Lift 1', '200060:2000321', 'liftFailure'),
      facility('Out of service', '200070', 'liftFailure'),
      facility('Lifts 2 and 3', '200080'),
      facility('Lift 4 is being replaced', '200090:2000901', 'maintenanceWork'),
      facility('Escalator 5', '206020'),
      facility('Escalator 6, use the lift', '206030', 'escalatorFailure'),
      notice('Lift 7', 'stopInfo', atStops('206040')),
    ];
    expect(await liftsAt(NOW)).toEqual(['200060 2000321', '200070', '200080', '200090 2000901']);
  });

  it('a lift is out of service while its alert is in force; before the first list, nothing is known', async () => {
    const timestamps = { validity: [{ from: '2026-11-20T03:00:00Z', to: '2026-11-20T05:00:00Z' }] };
    current = [facility('Lift 1', '200060', 'liftFailure', { timestamps })];
    expect(list.liftsOut(NOW)).toBeNull();
    expect(await liftsAt(NOW)).toEqual([]);
    expect(await liftsAt(NOW + 3_600_000)).toEqual(['200060']);
    expect(await liftsAt(NOW + 3 * 3_600_000)).toEqual([]);
    expect(calls).toBe(1);
  });
});

describe('the list of alerts behind calls', () => {
  it('the list of alerts is requested every ten minutes while calls are looked up, and never otherwise', async () => {
    for (let minute = 0; minute < 60; minute++) {
      await alertsOf();
      now += 60_000;
    }
    expect(calls).toBe(6);
    now += 24 * 3_600_000;
    await new Promise(setImmediate);
    expect(calls).toBe(6);
  });

  it('the list of alerts is requested at the highest priority, because every board needs it', async () => {
    await alertsOf();
    expect(new Set(sent)).toEqual(new Set(['high']));
  });

  it('the list of alerts stays in use while upstream is unavailable, and is requested again after a minute', async () => {
    current = [notice('Line', 'lineInfo', onLines(T1))];
    expect(await textsOf()).toEqual(['Line']);
    isUnreachable = true;
    now += 10 * 60_000;
    expect(await textsOf()).toEqual(['Line']);
    now += 30_000;
    await textsOf();
    expect(calls).toBe(2);
    now += 30_000;
    await textsOf();
    expect(calls).toBe(3);
  });
});
