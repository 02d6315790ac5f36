import { beforeEach, describe, expect, it } from 'vitest';
import { AlertList } from '#src/alerts/alert-list.ts';
import type { Ask, Priority } from '#src/efa/ask.ts';
import { readResponse } from '#src/efa/request.ts';
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
let asked: (Priority | undefined)[];
let now: number;
let list: AlertList;
let isAway: boolean;

beforeEach(() => {
  [current, calls, now, isAway] = [[], 0, NOW, false];
  asked = [];
  const ask = (async (request: Parameters<Ask>[0], options: Parameters<Ask>[1]) => {
    calls++;
    asked.push(options?.priority);
    if (isAway) throw new Error('away');
    return { payload: readResponse(request, { infos: { current } }), retrievedAt: new Date(now) };
  }) as unknown as Ask;
  list = new AlertList({ now: () => now, stops: new StopRegister(noStops), ask });
});

/** A T1 on platform 5 of Town Hall, unless another call is given. */
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
  // The list is read some notices a turn of the event loop.
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  return list.alertsOf(subject);
}
const textsOf = async (call: Partial<AlertSubject> = {}) => (await alertsOf(call)).map(({ text }) => text);

describe('the notices of a call', () => {
  it('are those of its stop, then of its line, then of its run, each text once', async () => {
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

  it('are of the platforms that a notice names, and of the station itself, not of its other platforms', async () => {
    current = [notice('Escalator', 'infrastructure', atStops('200070:2000395,2000396'))];
    expect(await textsOf({ stopIds: ['2000396', '200070'] })).toEqual(['Escalator']);
    expect(await textsOf({ stopIds: ['200070'], mode: 'lightrail', route: 'L2' })).toEqual(['Escalator']);
    expect(await textsOf({ stopIds: ['2000391', '200070'] })).toEqual([]);
  });

  it('are not of a line with the same number of another mode or another network', async () => {
    current = [
      notice('Sydney', 'lineInfo', onLines(line('324', 5, 5))),
      notice('Wauchope', 'lineInfo', onLines(line('324', 5, 33))),
    ];
    expect(await textsOf({ mode: 'bus', route: '324', network: 5 })).toEqual(['Sydney']);
    expect(await textsOf({ mode: 'bus', route: '324', network: null })).toEqual(['Sydney', 'Wauchope']);
    expect(await textsOf({ mode: 'schoolbus', route: '324', network: 5 })).toEqual([]);
  });

  it('hold at the time of the call', async () => {
    const validity = [{ from: '2026-11-21T00:00:00Z', to: '2026-11-22T00:00:00Z' }];
    current = [notice('Tomorrow', 'lineInfo', { ...onLines(T1), timestamps: { validity } })];
    expect(await textsOf()).toEqual([]);
    expect(await textsOf({ at: Date.parse('2026-11-21T02:00:00Z') })).toEqual(['Tomorrow']);
  });

  it('tell those that restrict wheelchairs apart', async () => {
    const content = 'Some services may not be wheelchair accessible.';
    current = [
      notice('Accessible buses', 'lineInfo', { ...onLines(T1), content, priority: 'veryLow' }),
      notice('Late', 'lineInfo', onLines(T1)),
    ];
    expect((await alertsOf()).map(({ restrictsWheelchairs }) => restrictsWheelchairs)).toEqual([true, false]);
  });
});

describe('the list that they are looked up in', () => {
  it('is requested once in ten minutes while calls are looked up, and never otherwise', async () => {
    for (let minute = 0; minute < 60; minute++) {
      await alertsOf();
      now += 60_000;
    }
    expect(calls).toBe(6);
    now += 24 * 3_600_000;
    await new Promise(setImmediate);
    expect(calls).toBe(6);
  });

  it('is requested with the highest priority: all boards need these few calls', async () => {
    await alertsOf();
    expect(new Set(asked)).toEqual(new Set(['high']));
  });

  it('stays in use while upstream is away, and is requested again after a minute', async () => {
    current = [notice('Line', 'lineInfo', onLines(T1))];
    expect(await textsOf()).toEqual(['Line']);
    isAway = true;
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
