import { describe, expect, it } from 'vitest';
import type { Leg } from '#src/trips/leg.ts';
import { type Journey, mapJourneys } from '#src/trips/map.ts';
import { selectJourneys } from '#src/trips/selection.ts';

const at = (time: string) => new Date(`2026-11-24T${time}Z`);

/** A journey of rides, each told as planned departure, planned arrival and how many minutes late it runs. */
function journeyOf(...rides: [departs: string, arrives: string, lateMinutes: number][]): Journey {
  const legs = rides.map(([departs, arrives, lateMinutes]) => {
    const end = (time: string) => ({
      planned: at(time),
      realtime: new Date(at(time).getTime() + lateMinutes * 60_000),
    });
    return { mode: 'train', origin: end(departs), destination: end(arrives) } as unknown as Leg;
  });
  const [first, last] = [legs.at(0) as Leg, legs.at(-1) as Leg];
  return { legs, start: first.origin, end: last.destination };
}

const sound = journeyOf(['23:10:00', '23:20:00', 0], ['23:25:00', '23:40:00', 0]);
const broken = journeyOf(['23:00:00', '23:10:00', 9], ['23:15:00', '23:30:00', 0]);
const late = journeyOf(['23:05:00', '23:29:00', 5]);
const now = { limit: 5, isArrival: false, at: null };

describe('of the journeys that upstream offers', () => {
  it('one whose change delays have made impossible is left out', () => {
    expect(selectJourneys([broken, sound], now)).toEqual([sound]);
  });

  it('an impossible one is shown when there is nothing else', () => {
    expect(selectJourneys([broken], now)).toEqual([broken]);
  });

  it('one that delays make arrive after the time asked for is left out', () => {
    const asked = { limit: 5, isArrival: true, at: { date: '20261125', time: '1030' } };
    expect(selectJourneys([late, broken], asked)).toEqual([late]);
    const punctual = journeyOf(['22:50:00', '23:20:00', 0]);
    expect(selectJourneys([late, punctual], asked)).toEqual([punctual]);
  });
});

describe('between one place and itself', () => {
  it('there is no journey, and the message says why', () => {
    const payload = { systemMessages: [{ code: -4007, text: 'same' }], journeys: [] };
    expect(() => mapJourneys(payload, { from: '200070', to: '10101101', at: null })).toThrow('are the same place');
  });
});
