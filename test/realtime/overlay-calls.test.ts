import { describe, expect, it } from 'vitest';
import { overlayCalls } from '#src/realtime/overlay.ts';
import type { Mode } from '#src/transit/mode.ts';
import { feedOf, type StopSpec } from './feed-bytes.ts';
import { at, call, delayed, seconds, statesOf, TRIP, timed, trip } from './overlay-case.ts';

const NOW = '2026-01-14T03:00:00Z';
const late = { delay: 120, time: at('03:07') / 1000 };

/** Updates for a stop where the vehicle is planned to leave at 03:05. */
const UPDATES: Record<string, StopSpec> = {
  'time and delay': timed('P1', '03:05', 120),
  'other seconds in the timetable of the feed': timed('P1', '03:05:40', 120),
  'another timetable of the feed': timed('P1', '03:08', 120),
  'a delay only': delayed('P1', 120),
  'a time only': { stopId: 'P1', departure: { time: at('03:07') / 1000 } },
  'the arrival only': { stopId: 'P1', arrival: late },
  'the arrival only, before the planned departure': { stopId: 'P1', arrival: { delay: -60, time: at('03:03') / 1000 } },
  'a departure without a delay after an arrival with one': {
    stopId: 'P1',
    arrival: late,
    departure: { time: at('03:08') / 1000 },
  },
};

describe('a call of a run', () => {
  const cases = Object.keys(UPDATES).flatMap((name) =>
    (['train', 'bus'] as const).map((mode) => [mode, name] as const),
  );

  it.each(cases)('a call of a %s leaves at the time its board shows, with %s in the feed', (mode, name) => {
    const update = UPDATES[name] as StopSpec;
    const states = statesOf([call('03:05', { mode })], [trip([update, delayed('P9', 120)])]);
    const [first] = callsOf(mode, update);
    expect(first?.departure?.realtimeAt).toBe(states[0]?.kind === 'live' ? states[0].leavesAt : null);
    expect(states[0]?.kind).toBe('live');
  });

  it('a call without an arrival in the feed takes the delay of its departure, and arrives no later than it leaves', () => {
    const [first] = callsOf('bus', { stopId: 'P1', departure: late });
    expect(first?.arrival?.realtimeAt).toBe(at('03:07'));
    const [second] = callsOf('train', { stopId: 'P1', departure: late });
    expect(second?.arrival?.realtimeAt).toBe(at('03:06'));
  });

  it.each(['train', 'bus'] as const)(
    'a %s call without a planned arrival takes it from the feed, except at the first stop',
    (mode) => {
      // Bus feeds plan to the second, here 03:04:30.
      const arrival = { delay: mode === 'bus' ? 90 : 120, time: at('03:06') / 1000 };
      const update = { stopId: 'P1', arrival, departure: late };
      const [, second] = callsOf(mode, update, ['P0', 'P1']);
      expect(second?.arrival).toEqual({ plannedAt: at('03:04'), realtimeAt: at('03:06') });
      // A run has no arrival at its first stop.
      const [first] = callsOf(mode, update, ['P1']);
      expect(first?.arrival).toBeNull();
      const [, untimed] = callsOf(mode, { stopId: 'P1', departure: late }, ['P0', 'P1']);
      expect(untimed?.arrival).toBeNull();
    },
  );
});

it('a late vehicle reaches no stop well before it leaves the one before, whatever the feed has for that stop', () => {
  const place = { name: '', platform: null, position: null, ids: [], occupancy: null, isCancelled: false };
  const calls = ['A', 'B', 'C', 'D'].map((stopId, index) => {
    const time = { plannedAt: at('03:00') + index * 600_000, realtimeAt: null };
    return { ...place, stopId, arrival: time, departure: time };
  });
  const now = new Date(NOW).getTime();
  for (const after of [timed('B', '03:10'), { ...timed('B', '03:10'), scheduleRelationship: 2 }]) {
    const trips = [trip([timed('A', '03:00', 900), after, timed('C', '03:20', -30), timed('D', '03:30')])];
    const feeds = [
      { source: 'buses' as const, modes: ['bus' as const], feed: feedOf({ timestamp: now / 1000, trips }) },
    ];
    const overlaid = overlayCalls({ runId: 'R', mode: 'bus' }, calls, { asOf: now, keptMs: 0, feeds, now });
    const arrivals = overlaid.calls.map(({ arrival }) => arrival?.realtimeAt);
    expect(arrivals).toEqual([at('03:15'), at('03:15'), at('03:19:30'), at('03:30')]);
  }
});

describe('a replacement', () => {
  /** The cancelled stops of a run that calls at A, B, C and D every ten minutes from 02:50. */
  function cancelledOf(...stops: StopSpec[]): string[] {
    const place = { name: '', platform: null, position: null, ids: [], occupancy: null, isCancelled: false };
    const calls = ['A', 'B', 'C', 'D'].map((stopId, index) => {
      const time = { plannedAt: at('02:50') + index * 600_000, realtimeAt: null };
      return { ...place, stopId, arrival: time, departure: time };
    });
    const trips = [trip(stops, { scheduleRelationship: TRIP.replacement })];
    const now = new Date(NOW).getTime();
    const feeds = [
      { source: 'buses' as const, modes: ['train' as const], feed: feedOf({ timestamp: now / 1000, trips }) },
    ];
    const overlaid = overlayCalls({ runId: 'R', mode: 'train' }, calls, { asOf: now, keptMs: 0, feeds, now });
    return overlaid.calls.flatMap(({ stopId, isCancelled }) => (isCancelled ? stopId : []));
  }

  it('a replacement cancels the calls it leaves out, as boards do, but no passed call', () => {
    expect(cancelledOf(timed('B', '03:00'), timed('D', '03:20'))).toEqual(['C']);
    expect(cancelledOf(timed('B', '03:00'), timed('C', '03:10'))).toEqual(['D']);
    expect(cancelledOf(timed('C', '03:10'), timed('D', '03:20'))).toEqual([]);
    expect(cancelledOf(timed('D', '03:20'))).toEqual(['C']);
    expect(cancelledOf(timed('A', '02:50', 900), timed('D', '03:20', 900))).toEqual(['B', 'C']);
  });
});

/**
 * The calls of a run that arrives at P1 at 03:04 and leaves at 03:05, or of a run with only its departures at the stops `unsaid`.
 */
function callsOf(mode: Mode, update: StopSpec, unsaid?: readonly string[]) {
  const feed = feedOf({ timestamp: seconds(NOW), trips: [trip([update, delayed('P9', 120)])] });
  const place = { name: '', platform: null, position: null, ids: [], occupancy: null, isCancelled: false };
  const time = (moment: string) => ({ plannedAt: at(moment), realtimeAt: null });
  const starts = unsaid?.map((stopId) => ({ ...place, stopId, arrival: null, departure: time('03:05') }));
  const calls = [
    ...(starts ?? [{ ...place, stopId: 'P1', arrival: time('03:04'), departure: time('03:05') }]),
    { ...place, stopId: 'P9', arrival: time('03:20'), departure: null },
  ];
  const now = new Date(NOW).getTime();
  const feeds = [{ source: 'buses' as const, modes: [mode], feed }];
  return overlayCalls({ runId: 'R', mode }, calls, { asOf: now - 60_000, keptMs: 0, feeds, now }).calls;
}
