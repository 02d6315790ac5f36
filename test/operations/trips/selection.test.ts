import { describe, expect, it } from 'vitest';
import { mapJourneys } from '#src/journeys/planner/map.ts';
import { hasLeft, selectJourneys } from '#src/journeys/selection.ts';
import type { Journey, Leg } from '#src/transit/journey.ts';

const at = (time: string) => Date.parse(`2026-11-24T${time}Z`);

type Ride = [departs: string, arrives: string, lateMinutes: number];

/** A journey of rides, with each walk given in seconds. */
function journeyOf(...parts: (Ride | number)[]): Journey {
  const legs = parts.map((part) => {
    if (typeof part === 'number') return { mode: 'walk', durationMs: part * 1000 };
    const [departs, arrives, lateMinutes] = part;
    const end = (time: string) => ({ plannedAt: at(time), realtimeAt: at(time) + lateMinutes * 60_000 });
    return { mode: 'train', origin: end(departs), destination: end(arrives) };
  });
  return { legs: legs as unknown as Leg[] };
}

const sound = journeyOf(['23:10:00', '23:20:00', 0], ['23:25:00', '23:40:00', 0]);
const broken = journeyOf(['23:00:00', '23:10:00', 9], ['23:15:00', '23:30:00', 0]);
const late = journeyOf(['23:05:00', '23:29:00', 5]);
const now = { limit: 5, isArrival: false, at: null, now: at('22:30:30') };

describe('selecting from the journeys that upstream offers', () => {
  it('a journey whose change is missed because of delays is left out and counted', () => {
    expect(selectJourneys([broken, sound], now)).toMatchObject({ journeys: [sound], leftOut: { 'missed change': 1 } });
  });

  it('an impossible journey is listed when there is no other', () => {
    expect(selectJourneys([broken], now)).toMatchObject({ journeys: [broken], leftOut: {} });
  });

  it('a journey whose change leaves no time for the walk is left out', () => {
    const hasty = journeyOf(['23:00:00', '23:10:00', 2], 240, ['23:15:00', '23:30:00', 0]);
    const brisk = journeyOf(['23:00:00', '23:10:00', 1], 240, ['23:15:00', '23:30:00', 0]);
    expect(selectJourneys([hasty, sound], now).journeys).toEqual([sound]);
    expect(selectJourneys([brisk, sound], now).journeys).toEqual([brisk, sound]);
  });

  it('a journey whose planned times overlap is possible when its best-known times do not', () => {
    const early = journeyOf(['22:50:00', '23:20:00', -15], 360, ['23:13:00', '23:30:00', 0]);
    expect(selectJourneys([early, sound], now).journeys).toEqual([early, sound]);
  });

  it('a journey that arrives after the requested time because of delays is left out and counted', () => {
    const sent = { ...now, isArrival: true, at: { date: '20261125', time: '1030' } };
    expect(selectJourneys([late, broken], sent)).toMatchObject({ journeys: [late], leftOut: { 'missed change': 1 } });
    const punctual = journeyOf(['22:50:00', '23:20:00', 0]);
    expect(selectJourneys([late, punctual], sent)).toMatchObject({
      journeys: [punctual],
      leftOut: { 'arrives too late': 1 },
    });
  });

  it('a journey whose first vehicle has left before this minute is left out unless a time was requested', () => {
    const gone = journeyOf(['22:31:00', '23:20:00', -2], ['23:25:00', '23:40:00', 0]);
    const leaving = journeyOf(['22:31:00', '23:20:00', -1]);
    expect(selectJourneys([gone, leaving], now)).toMatchObject({ journeys: [leaving], leftOut: { 'has left': 1 } });
    expect(selectJourneys([gone], now)).toMatchObject({ journeys: [gone], leftOut: {} });
    expect(selectJourneys([gone, sound], { ...now, at: { date: '20261125', time: '0930' } }).journeys).toContain(gone);
    expect(hasLeft(journeyOf(600), now.now)).toBe(false);
  });

  it('cancelled journeys come last, do not count towards the limit, and may have missed changes', () => {
    const off = ({ legs }: Journey) => ({ legs: legs.map((leg) => ({ ...leg, isCancelled: true })) });
    const [cancelled, alsoCancelled] = [off(broken), off(sound)];
    const { journeys, leftOut } = selectJourneys([alsoCancelled, late, cancelled, sound], { ...now, limit: 1 });
    expect(journeys).toEqual([late, cancelled, alsoCancelled]);
    expect(leftOut).toEqual({ 'beyond the limit': 1 });
  });

  it('a journey that needs a lift out of service comes after the others and is left out first', () => {
    const marked = { ...late, liftsOut: [{ stopId: '200060', name: 'Central', alertId: 'a' }] };
    expect(selectJourneys([marked, sound], now).journeys).toEqual([sound, marked]);
    expect(selectJourneys([marked, sound], { ...now, limit: 1 })).toMatchObject({
      journeys: [sound],
      others: [marked],
    });
    expect(selectJourneys([{ ...marked, liftsOut: null }, sound], now).journeys).toEqual([
      { ...marked, liftsOut: null },
      sound,
    ]);
  });

  it('journeys beyond the limit are left out and counted', () => {
    expect(selectJourneys([sound, late], { ...now, limit: 1 })).toMatchObject({
      journeys: [late],
      leftOut: { 'beyond the limit': 1 },
    });
  });
});

describe('a journey from a place to itself', () => {
  it('a journey from a stop to itself is refused with the reason', async () => {
    const payload = { systemMessages: [{ code: -4007, text: 'same' }], journeys: [] };
    const mapped = mapJourneys(
      payload,
      { from: '200070', to: '10101101', at: null, cancelled: 'exclude' },
      { get: () => null },
    );
    await expect(mapped).rejects.toThrow('`to` must differ from `from`. Transport for NSW treats');
  });
});
