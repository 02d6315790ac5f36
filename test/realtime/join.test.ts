import { describe, expect, it } from 'vitest';
import {
  at,
  call,
  cancelled,
  delayed,
  departed,
  live,
  overlayOf,
  scheduled,
  seconds,
  skipped,
  statesOf,
  TRIP,
  timed,
  trip,
} from './overlay-case.ts';

const movesOf = (...overlay: Parameters<typeof overlayOf>) => overlayOf(...overlay).calls.map(({ movedTo }) => movedTo);

describe('a loop that calls twice at a stop', () => {
  const twice = [call('03:05'), call('03:25')];

  it('each call of a loop is matched by planned time', () => {
    const stops = [timed('P1', '03:05', 60), timed('A', '03:15', 90), timed('P1', '03:25', 120)];
    expect(statesOf(twice, [trip(stops)])).toEqual([live('03:06'), live('03:27')]);
    expect(statesOf([...twice].reverse(), [trip(stops)])).toEqual([live('03:27'), live('03:06')]);
  });

  it('the second call of a loop matches its own update once the feed has dropped the first', () => {
    const stops = [timed('A', '03:15', 90), timed('P1', '03:25', 120)];
    expect(statesOf([call('02:58'), call('03:25')], [trip(stops)])).toEqual([departed, live('03:27')]);
  });

  it('the first call of a loop never matches the update of the second', () => {
    const stops = [timed('A', '03:15', 90), timed('P1', '03:25', 120)];
    expect(statesOf([call('02:58')], [trip(stops)])).toEqual([departed]);
  });

  it('calls of a loop without times match in order, counted from the end', () => {
    const stops = [delayed('P1', 30), delayed('A', 60), delayed('P1', 90)];
    expect(statesOf(twice, [trip(stops)])).toEqual([live('03:05:30'), live('03:26:30')]);
    expect(statesOf(twice, [trip(stops.slice(1))])).toEqual([scheduled, live('03:26:30')]);
  });

  it('the nearest of two calls a few minutes apart is matched', () => {
    const near = [call('03:05'), call('03:09')];
    expect(statesOf(near, [trip([timed('P1', '03:09', 60)])])).toEqual([scheduled, live('03:10')]);
  });

  it('the last call of a loop without times matches the last update, even if listed alone', () => {
    const stops = [delayed('P1', 30), delayed('A', 60), delayed('P1', 90)];
    expect(statesOf([call('03:25')], [trip(stops)])).toEqual([live('03:26:30')]);
  });

  it('a passed call of a loop is matched by its actual time', () => {
    const passed = { stopId: 'P1', departure: { time: at('02:59') / 1000 } };
    const trips = [trip([passed, timed('P1', '03:25', 60)], { scheduleRelationship: TRIP.replacement })];
    expect(statesOf([call('02:58'), call('03:25')], trips)).toEqual([live('02:59'), live('03:26')]);
    expect(statesOf([call('03:25')], trips)).toEqual([live('03:26')]);
  });

  it('a skipped call of a loop is distinguished from one that takes place', () => {
    const trips = [trip([skipped('P1'), timed('P1', '03:25', 60)])];
    expect(statesOf(twice, trips)).toEqual([cancelled, live('03:26')]);
  });
});

describe('a moved wharf or platform', () => {
  it('a moved platform is found by planned time', () => {
    const ferry = call('03:05', { mode: 'ferry' });
    const trips = [trip([timed('P2', '03:05', 45, { stopSequence: 1 }), timed('A', '03:20', 0)])];
    expect(statesOf([ferry], trips)).toEqual([live('03:05:45')]);
    expect(movesOf([ferry], trips)).toEqual(['P2']);
  });

  it('a call can move to a platform unknown to the stop while the feed lists an earlier stop', () => {
    const ferry = call('03:05', { mode: 'ferry' });
    const stops = [timed('A', '02:50'), timed('NEW', '03:05:30', 60), timed('B', '03:20')];
    expect(statesOf([ferry], [trip(stops)])).toEqual([live('03:06:30')]);
    expect(statesOf([ferry], [trip(stops.slice(1))])).toEqual([scheduled]);
    expect(statesOf([ferry], [trip([timed('NEW', '03:05', 60, { stopSequence: 1 })])])).toEqual([live('03:06')]);
  });

  it('a moved call is searched at platforms of the same stop before any other stop', () => {
    const stops = [timed('A', '02:50'), timed('NEW', '03:05', 60), timed('P2', '03:05', 120)];
    expect(statesOf([call()], [trip(stops)])).toEqual([live('03:07')]);
  });

  it('a call does not move to another stop with the same minute', () => {
    const stops = [timed('A', '03:00', 60), timed('B', '03:05', 60), timed('C', '03:05', 60)];
    expect(movesOf([call()], [trip(stops)])).toEqual([null]);
    expect(statesOf([call()], [trip(stops)])).toEqual([live('03:06')]);
  });

  it('a train without times moves only to the one other platform of the stop', () => {
    const train = call('03:05', { mode: 'train' });
    expect(statesOf([train], [trip([delayed('P3', 60), delayed('A', 60)])])).toEqual([live('03:06')]);
    expect(statesOf([train], [trip([delayed('P2', 60), delayed('P3', 60)])])).toEqual([scheduled]);
    const two = [train, call('03:25', { mode: 'train', stopId: 'P2' })];
    expect(statesOf(two, [trip([delayed('P3', 60)])])).toEqual([scheduled, scheduled]);
  });

  it('a call does not take the update of another platform at which the run is planned to call too', () => {
    const both = [call('03:05', { mode: 'train' }), call('03:05', { mode: 'train', stopId: 'P2' })];
    expect(statesOf(both, [trip([delayed('P2', 60)])])).toEqual([scheduled, live('03:06')]);
  });

  it('a call does not move to a skipped platform', () => {
    const train = call('03:05', { mode: 'train' });
    expect(statesOf([train], [trip([skipped('P2'), delayed('A', 60)])])).toEqual([scheduled]);
  });
});

describe('two versions of the timetable', () => {
  it('a call matches an update whose planned time differs by at most five minutes', () => {
    expect(statesOf([call()], [trip([timed('P1', '03:09', 60), timed('A', '03:19')])])).toEqual([live('03:10')]);
    expect(statesOf([call('03:05')], [trip([timed('P1', '03:11', 60)])])).toEqual([scheduled]);
  });

  it('a train whose planned time differs takes the time of the feed', () => {
    const trips = [trip([timed('P1', '03:08', 60)], { scheduleRelationship: TRIP.replacement })];
    expect(statesOf([call('03:05', { mode: 'train' })], trips)).toEqual([live('03:09')]);
  });
});

describe('the same trip ID on another day', () => {
  const today = trip([timed('P1', '03:05', 60)], { startDate: '20260114', startTime: '13:50:00' });
  const tomorrow = { plannedAt: at('03:05') + 24 * 3_600_000 };

  it('a feed for today does not apply to the same trip tomorrow', () => {
    expect(statesOf([call(), call('03:05', tomorrow)], [today])).toEqual([live('03:06'), scheduled]);
  });

  it('a feed without dates applies only to departures it can already list', () => {
    const undated = trip([delayed('P1', 60)]);
    const trains = [call('03:05', { mode: 'train' }), call('03:05', { mode: 'train', ...tomorrow })];
    expect(statesOf(trains, [undated])).toEqual([live('03:06'), scheduled]);
  });

  it('a call of the timetable matches by its service day', () => {
    const day = (date: string) => Date.parse(`${date}T00:00:00Z`) / 86_400_000;
    const late = trip([timed('P1', '03:05', 60)], { startDate: '20260114' });
    const dayOf = (date: string) => statesOf([call('03:05', { day: day(date) })], [late])[0]?.kind;
    expect(['2026-01-13', '2026-01-14', '2026-01-15'].map(dayOf)).toEqual(['scheduled', 'live', 'scheduled']);
  });

  it('a ferry or TrainLink run matches an ID with another publication date and the same days', () => {
    const ferry = call('03:05', { mode: 'ferry', runId: 'AB12.290826.32.2319' });
    const found = (tripId: string) => statesOf([ferry], [trip([timed('P1', '03:05', 60)], { tripId })])[0]?.kind;
    expect(found('AB12.050926.32.2319')).toBe('live');
    expect(found('AB12.050926.16.2319')).toBe('scheduled');
    expect(found('AB12.05092.32.2319')).toBe('scheduled');
  });

  it('two trips with the same ID apply to their own days', () => {
    const night = '2026-01-14T12:50:00Z';
    const early = call('13:05', { plannedAt: at('13:05') });
    const next = call('13:05', { plannedAt: at('13:05') + 24 * 3_600_000 });
    const trips = [
      trip([timed('P1', '13:05', 60)], { startDate: '20260114', startTime: '23:50:00' }),
      trip([], { startDate: '20260115', startTime: '23:50:00', scheduleRelationship: TRIP.canceled }),
    ];
    const [one, other] = statesOf([early, next], trips, { now: night });
    expect([one?.kind, other?.kind]).toEqual(['live', 'cancelled']);
  });
});

describe('midnight and clock changes', () => {
  const moment = (text: string) => new Date(text).getTime();
  const leaves = (plannedAt: string, more: object) => {
    const planned = seconds(plannedAt);
    const stop = { stopId: 'P1', departure: { delay: 60, time: planned + 60 } };
    const now = new Date((planned - 600) * 1000).toISOString();
    const [state] = statesOf([call('03:05', { plannedAt: moment(plannedAt) })], [trip([stop], more)], { now });
    return state?.kind === 'live' ? new Date(state.leavesAt).toISOString() : state?.kind;
  };

  it('a run that started before midnight is live after midnight', () => {
    const started = { startDate: '20260114', startTime: '23:50:00' };
    expect(leaves('2026-01-14T13:10:00Z', started)).toBe('2026-01-14T13:11:00.000Z');
    expect(leaves('2026-01-14T13:10:00Z', { startDate: '20260114' })).toBe('2026-01-14T13:11:00.000Z');
    expect(leaves('2026-01-14T14:10:00Z', { ...started, startTime: '24:50:00' })).toBe('2026-01-14T14:11:00.000Z');
  });

  it('a run across the missing hour is live before and after it', () => {
    const started = { startDate: '20261003', startTime: '25:30:00' };
    expect(leaves('2026-10-03T15:50:00Z', started)).toBe('2026-10-03T15:51:00.000Z');
    expect(leaves('2026-10-03T16:10:00Z', started)).toBe('2026-10-03T16:11:00.000Z');
  });

  it('a run through the repeated hour is live in both passes', () => {
    const started = { startDate: '20260405', startTime: '02:20:00' };
    expect(leaves('2026-04-04T15:30:00Z', started)).toBe('2026-04-04T15:31:00.000Z');
    expect(leaves('2026-04-04T16:30:00Z', started)).toBe('2026-04-04T16:31:00.000Z');
  });

  it('two runs with the same clock time in the repeated hour are distinguished', () => {
    const first = call('03:05', { plannedAt: moment('2026-04-04T15:30:00Z') });
    const second = call('03:05', { plannedAt: moment('2026-04-04T16:30:00Z'), runId: 'Q' });
    const stop = (planned: string, delay: number) => ({
      stopId: 'P1',
      departure: { delay, time: seconds(planned) + delay },
    });
    const trips = [
      trip([stop('2026-04-04T15:30:00Z', 60)], { startDate: '20260405', startTime: '02:20:00' }),
      trip([stop('2026-04-04T16:30:00Z', 120)], { startDate: '20260405', startTime: '02:20:00', tripId: 'Q' }),
    ];
    const states = statesOf([first, second], trips, { now: '2026-04-04T15:20:00Z' });
    expect(states).toMatchObject([
      { kind: 'live', leavesAt: moment('2026-04-04T15:31:00Z') },
      { kind: 'live', leavesAt: moment('2026-04-04T16:32:00Z') },
    ]);
  });
});
