import { beforeEach, describe, expect, it } from 'vitest';
import { tellOfCalls } from '#src/efa/ask.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { checkStop, learnFromDepartures, Verdicts } from '#src/nearby/verdict.ts';
import { MODES } from '#src/transit/mode.ts';
import { respondInTurn, toPayload } from '#test/support/departure-pages.ts';

/** Wednesday, 16:25 in Sydney. */
const NOW = new Date('2026-04-15T06:25:30Z');
const HOUR_MS = 3_600_000;
const silent = toPayload([]);
const failure = new ApiError('UPSTREAM_ERROR', 'The transport authority failed to answer.');

let clock: Date;
let verdicts: Verdicts;
const wait = (hours: number) => {
  clock = new Date(clock.getTime() + hours * HOUR_MS);
};
beforeEach(() => {
  clock = NOW;
  verdicts = new Verdicts(() => clock);
});

describe('the check of a stop', () => {
  it('asks for every mode, and once when something leaves now', async () => {
    const ask = respondInTurn(toPayload([{ minute: 1, productClass: 9 }, { minute: 2 }]));
    expect(await checkStop(ask, verdicts, '200070', NOW)).toMatchObject({ isAlive: true, modes: ['bus', 'ferry'] });
    expect(ask.requests).toEqual([{ kind: 'departureMonitor', stopId: '200070', modes: MODES, at: null }]);
  });

  it('finds a stop dead only when nothing leaves now and nothing on the next weekday morning', async () => {
    const ask = respondInTurn(silent, silent);
    expect(await checkStop(ask, verdicts, '200070', NOW)).toMatchObject({ isAlive: false, modes: [] });
    expect(ask.requests.map(({ at }) => at)).toEqual([null, { date: '20260416', time: '0800' }]);
  });

  it('finds a stop alive where only school buses stop, on a Saturday', async () => {
    const ask = respondInTurn(silent, toPayload([{ minute: 1, productClass: 11 }]));
    const saturday = new Date('2026-04-18T02:00:00Z');
    expect(await checkStop(ask, verdicts, '200070', saturday)).toMatchObject({ isAlive: true, modes: ['schoolbus'] });
    expect(ask.requests[1]?.at).toEqual({ date: '20260420', time: '0800' });
  });

  it('finds a stop dead that the authority does not know, now and on the next weekday morning', async () => {
    const unknown = { ...silent, locations: [], systemMessages: [{ code: -2000, text: 'stop invalid' }] };
    const ask = respondInTurn(unknown, unknown);
    expect(await checkStop(ask, verdicts, '200070', NOW)).toMatchObject({ isAlive: false, modes: [] });
    expect(ask.requests).toHaveLength(2);
  });

  it.each([
    ['that it has no timetable', { systemMessages: [{ code: -4001, text: 'date invalid' }] }],
    ['nothing', { locations: [] }],
  ])('is no verdict when the authority says %s', async (_name, said) => {
    const odd = { ...silent, ...said };
    expect(await checkStop(respondInTurn(odd, odd), verdicts, '200070', NOW)).toBeNull();
    expect(verdicts.find('200070')).toBeNull();
  });

  it('takes a stop whose departures are all cancelled, or of an unknown class, for alive', async () => {
    const odd = toPayload([{ minute: 1, productClass: 77 }]);
    expect(await checkStop(respondInTurn(odd), verdicts, '200060', NOW)).toMatchObject({ isAlive: true, modes: [] });
    const payload = toPayload([{ minute: 1 }]);
    const stopEvents = payload.stopEvents.map((event) => ({ ...(event as object), isCancelled: true }));
    const cancelled = respondInTurn({ ...payload, stopEvents });
    expect(await checkStop(cancelled, verdicts, '200070', NOW)).toMatchObject({ isAlive: true, modes: ['bus'] });
  });

  it('is no verdict, and nothing is remembered, when either request fails', async () => {
    expect(await checkStop(respondInTurn(failure), verdicts, '200070', NOW)).toBeNull();
    expect(await checkStop(respondInTurn(silent, failure), verdicts, '200070', NOW)).toBeNull();
    expect(verdicts.find('200070')).toBeNull();
  });

  it('rejects with a bug of our own', async () => {
    const bug = new TypeError('ours');
    await expect(checkStop(respondInTurn(bug), verdicts, '200070', NOW)).rejects.toBe(bug);
  });

  it('asks nothing where the verdict is remembered', async () => {
    const ask = respondInTurn(toPayload([{ minute: 1 }]));
    await checkStop(ask, verdicts, '200070', NOW);
    expect(await checkStop(ask, verdicts, '200070', NOW)).toMatchObject({ isAlive: true, modes: ['bus'] });
    expect(ask.requests).toHaveLength(1);
  });
});

describe('a verdict is remembered', () => {
  it('24 hours when the stop is alive', () => {
    verdicts.learn('200070', { isAlive: true, modes: ['bus'] });
    wait(23.9);
    expect(verdicts.find('200070')).toMatchObject({ isAlive: true, modes: ['bus'] });
    wait(0.2);
    expect(verdicts.find('200070')).toBeNull();
  });

  it('6 hours when it is dead', () => {
    verdicts.learn('200070', { isAlive: false, modes: [] });
    wait(5.9);
    expect(verdicts.find('200070')).toMatchObject({ isAlive: false, modes: [] });
    wait(0.2);
    expect(verdicts.find('200070')).toBeNull();
  });

  it('anew from each time it is learnt, with the modes seen so far', () => {
    verdicts.learn('200070', { isAlive: true, modes: ['schoolbus'] });
    wait(20);
    verdicts.learn('200070', { isAlive: true, modes: ['bus'] });
    wait(20);
    expect(verdicts.find('200070')).toMatchObject({ isAlive: true, modes: ['bus', 'schoolbus'] });
  });

  it('for each stop on its own', () => {
    verdicts.learn('200070', { isAlive: true, modes: [] });
    expect(verdicts.find('200060')).toBeNull();
  });
});

describe('departures answers that requests get', () => {
  const request = { kind: 'departureMonitor', stopId: '200070', modes: MODES, at: null } as const;

  it('teach that the stop is alive and which modes leave there, and go on unchanged', async () => {
    const payload = toPayload([{ minute: 1, productClass: 1 }, { minute: 2 }]);
    const ask = tellOfCalls(respondInTurn(payload), learnFromDepartures(verdicts));
    expect((await ask(request)).payload).toBe(payload);
    expect(verdicts.find('200070')).toMatchObject({ isAlive: true, modes: ['train', 'bus'] });
  });

  it('teach of the stop that upstream answered for, which may have another identifier', async () => {
    const ask = tellOfCalls(respondInTurn(toPayload([{ minute: 1 }], 'G201023')), learnFromDepartures(verdicts));
    await ask({ ...request, stopId: '10111010' });
    expect(verdicts.find('G201023')).toMatchObject({ isAlive: true, modes: ['bus'] });
  });

  it('teach nothing when nothing leaves: the request may have been for the night, or for one mode', async () => {
    const ask = tellOfCalls(respondInTurn(silent), learnFromDepartures(verdicts));
    await ask(request);
    expect(verdicts.find('200070')).toBeNull();
  });

  it('make a stop alive that was found dead', async () => {
    verdicts.learn('200070', { isAlive: false, modes: [] });
    await tellOfCalls(respondInTurn(toPayload([{ minute: 1 }])), learnFromDepartures(verdicts))(request);
    expect(verdicts.find('200070')).toMatchObject({ isAlive: true });
  });

  it('teach nothing when they fail', async () => {
    const ask = tellOfCalls(respondInTurn(failure), learnFromDepartures(verdicts));
    await expect(ask(request)).rejects.toBe(failure);
    expect(verdicts.find('200070')).toBeNull();
  });
});
