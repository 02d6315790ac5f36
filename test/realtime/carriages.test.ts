import { describe, expect, it } from 'vitest';
import { Runs } from '#src/boards/runs.ts';
import { runsWith } from '#test/support/pairs.ts';
import type { TripSpec } from './feed-bytes.ts';
import { at, delayed, STOP, seconds, skipped, TRIP, timed, trip } from './overlay-case.ts';

const NOW = '2026-01-14T03:00:00Z';
const HEADER = seconds(NOW) - 12;
const FULL = [
  { position: 1, occupancy: 'MANY_SEATS' },
  { position: 2, occupancy: 'STANDING_ONLY' },
];
const carriages = [1, 3].map((occupancy, index) => ({ position: index + 1, occupancy }));
const train = { runId: 'R', mode: 'train', stopId: 'P1', plannedAt: at('03:05') } as const;
const withCarriages = (stopId: string, more = {}) => delayed(stopId, 60, { carriages, ...more });
const feedsOf = (...trips: TripSpec[]) => ({ sydneytrains: { timestamp: HEADER, trips } });

describe('the carriages of a run', () => {
  it.each<[string, TripSpec]>([
    ['that is scheduled', trip([withCarriages('P1')])],
    [
      'with calls that are listed anew',
      trip([timed('P1', '03:05', 0, { carriages })], { scheduleRelationship: TRIP.replacement }),
    ],
    ['at one of two platforms', trip([delayed('P0', 0), withCarriages('P1'), delayed('P2', 0)])],
  ])('the carriages of a run %s come from its stop update', (_, spec) => {
    expect(runsWith(feedsOf(spec), NOW).viewCarriages(train, null)).toEqual({
      carriages: FULL,
      calls: null,
      asOf: HEADER * 1000,
    });
  });

  const unknown = { carriages: null, calls: null, asOf: Number.POSITIVE_INFINITY };
  it.each<[string, TripSpec, object]>([
    ['not in the feed', trip([withCarriages('P1')], { tripId: 'Q' }), {}],
    ['without an ID', trip([withCarriages('P1')]), { runId: null }],
    ['of another service day', trip([withCarriages('P1')]), { plannedAt: at('03:05') + 24 * 3_600_000 }],
    ['of a mode that the feed does not carry', trip([withCarriages('P1')]), { mode: 'bus' }],
    ['at a stop missing from the feed', trip([withCarriages('P2')]), {}],
    ['at a stop without carriages in the feed', trip([delayed('P1', 0), withCarriages('P2')]), {}],
    ['that skips the stop', trip([{ ...skipped('P1'), carriages }]), {}],
    ['without data', trip([withCarriages('P1', { scheduleRelationship: STOP.noData })]), {}],
    ['that is cancelled', trip([withCarriages('P1')], { scheduleRelationship: TRIP.canceled }), {}],
    ['that duplicates another one', trip([withCarriages('P1')], { scheduleRelationship: TRIP.duplicated }), {}],
  ])('the carriages of a run %s are null', (_, spec, more) => {
    expect(runsWith(feedsOf(spec), NOW).viewCarriages({ ...train, ...more }, null)).toEqual(unknown);
  });

  it('the carriages of a run are null without feeds, with a rejected feed and with one not polled lately', () => {
    const feeds = feedsOf(trip([withCarriages('P1')]));
    expect(new Runs({ now: () => at('03:00') }).viewCarriages(train, null)).toEqual(unknown);
    expect(runsWith(feeds, '2026-01-14T03:01:00Z', NOW).viewCarriages(train, null).carriages).toBeNull();
    expect(runsWith(feeds, '2026-01-14T03:05:00Z', NOW).viewCarriages(train, null).carriages).toBeNull();
  });

  it('each call has the carriages of the run that the vehicle operates there, even where it continues as another run', () => {
    const time = (moment: string) => ({ plannedAt: at(moment), realtimeAt: null });
    const call = (stopId: string, moment: string, more = {}) => ({
      stopId,
      name: stopId,
      platform: null,
      position: null,
      arrival: null,
      departure: time(moment),
      occupancy: null,
      ...more,
    });
    const calls = [call('P1', '03:05'), call('P2', '03:10'), call('P3', '03:15', { nextRunId: 'Q' })];
    const feeds = feedsOf(
      trip([withCarriages('P1'), delayed('P2', 60), delayed('P3', 60)]),
      trip([delayed('P3', 60, { carriages: [{ position: 1 }] })], { tripId: 'Q' }),
    );
    const found = runsWith(feeds, NOW).viewCarriages(train, calls);
    expect(found.calls).toEqual([
      { ...calls[0], carriages: FULL },
      { ...calls[1], carriages: null },
      { ...calls[2], carriages: [{ position: 1, occupancy: null }] },
    ]);
    expect(found.carriages).toEqual(FULL);
  });
});
