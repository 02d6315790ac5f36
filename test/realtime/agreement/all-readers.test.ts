import { describe, expect, it } from 'vitest';
import { respondInTurn, toPayload } from '../../support/departure-pages.ts';
import type { StopSpec, TripSpec } from '../feed-bytes.ts';
import { predict, skipped, TRIP, trip, update } from '../prediction/predicted.ts';
import { createReaders, runOf, timetableOfRuns } from './all-readers.ts';

const NO = 1;
const REGULAR = 0;

describe('what riders may do at a call today', () => {
  const planned = timetableOfRuns([runOf('R', [5, 15, 25, 35])]);
  const ofFeed = (...stops: StopSpec[]): TripSpec[] => [trip('R', stops)];
  const closed = ofFeed(
    update('1', { delay: 60 }),
    update('2', { delay: 60 }, { pickupType: NO }),
    update('3', { delay: 60 }, { dropOffType: NO }),
  );
  const of = (trips: TripSpec[], made = planned) => createReaders(made, [predict(made, trips)]);

  it('boards and journeys do not offer a call where the feed forbids boarding, and still offer to alight there', async () => {
    const readers = of(closed);
    expect(await readers.rows('1')).toEqual(['R 5>6']);
    expect(await readers.rows('2')).toEqual([]);
    expect(await readers.rows('2', { cancelled: 'include' })).toEqual(['R 15 cancelled']);
    expect(await readers.arrivals('2')).toEqual(['R 15>16']);
    expect(await readers.journeys('2', '4')).toEqual([]);
    expect(await readers.journeys('1', '2')).toEqual(['R 5>6-15>16']);
  });
  it('boards of arrivals and journeys do not offer a call where the feed forbids to alight', async () => {
    const readers = of(closed);
    expect(await readers.arrivals('3')).toEqual([]);
    expect(await readers.rows('3')).toEqual(['R 25>26']);
    expect(await readers.journeys('1', '3')).toEqual([]);
    expect(await readers.journeys('3', '4')).toEqual(['R 25>26-35>36']);
  });
  it('a call that the feed opens for boarding is offered', async () => {
    const setDownOnly = timetableOfRuns([
      {
        ...runOf('R', [5, 15, 25]),
        calls: runOf('R', [5, 15, 25]).calls.map(
          ([stop, time, more], index) => [stop, time, { ...more, ...(index === 1 && { flags: 2 }) }] as const,
        ),
      },
    ]);
    const shut = of([trip('R', [update('2', { delay: 60 })])], setDownOnly);
    expect([await shut.rows('2'), await shut.journeys('2', '3')]).toEqual([[], []]);
    const open = of([trip('R', [update('2', { delay: 60 }, { pickupType: REGULAR })])], setDownOnly);
    expect([await open.rows('2'), await open.journeys('2', '3')]).toEqual([['R 15>16'], ['R 15>16-25>26']]);
  });
  it('a followed journey is cancelled where its rider may no longer board or alight', async () => {
    const readers = of([]);
    const [journey] = await readers.plan('2', '3');
    const id = journey?.journey_id as string;
    expect((await readers.follow(id)).status).toBe('possible');
    for (const stops of [closed[0]?.stops?.slice(0, 2), closed[0]?.stops?.slice(2)]) {
      readers.take([predict(planned, ofFeed(...(stops as StopSpec[])))]);
      expect((await readers.follow(id)).status).toBe('cancelled');
    }
  });
  it('an update that only forbids boarding cancels the departure there, and other calls keep their planned times', async () => {
    const readers = of(ofFeed({ stopId: '2', pickupType: NO }));
    expect(await readers.rows('2', { cancelled: 'include' })).toEqual(['R 15 cancelled']);
    expect(await readers.rows('1')).toEqual(['R 5']);
  });
});

describe('a board at a time', () => {
  const planned = timetableOfRuns([runOf('late', [5, 15]), runOf('early', [12, 22]), runOf('R', [20, 30])]);
  const readers = createReaders(planned, [
    predict(planned, [trip('late', [update('1', { delay: 480 })]), trip('early', [update('1', { delay: -240 })])]),
  ]);

  it('a board at a time lists what leaves from then on by the best time, as a board of now and journeys do', async () => {
    const then = (time: string) => ({ date: '20261127', time });
    expect(await readers.rows('1')).toEqual(['early 12>8', 'late 5>13', 'R 20']);
    expect(await readers.rows('1', then('0908'))).toEqual(['early 12>8', 'late 5>13', 'R 20']);
    expect(await readers.rows('1', then('0910'))).toEqual(['late 5>13', 'R 20']);
    expect(await readers.journeys('1', '2', then('0910'))).toEqual(['late 5>13-15>23', 'R 20-30']);
    expect(await readers.arrivals('2', then('0919'))).toEqual(['late 15>23', 'R 30']);
  });
});

describe('a run that ends early', () => {
  const planned = timetableOfRuns([runOf('R', [5, 15, 25, 35])]);
  const readers = createReaders(planned, [
    predict(planned, [trip('R', [update('1', { delay: 0 }), update('2', { delay: 0 }), skipped('3'), skipped('4')])]),
  ]);

  it('the destination of a run that ends early is the stop where it ends, on boards and of the run', async () => {
    const [departure] = await readers.departures('1');
    expect(departure?.destination).toBe('2');
    expect((await readers.run(departure?.run_id as string)).destination).toBe('2');
    expect((await readers.departures('2', { cancelled: 'include' })).map((one) => one.destination)).toEqual(['City']);
  });
});

describe('an added run', () => {
  const planned = timetableOfRuns([runOf('R', [200, 210])]);
  const stops = [update('1', { time: 5 }), update('2', { time: 15 })];
  const added = (scheduleRelationship: number) => trip('X', stops, { scheduleRelationship, routeId: 'R' });

  it('a followed journey is cancelled once the feed cancels the run that it had added', async () => {
    const readers = createReaders(planned, [predict(planned, [added(TRIP.new)])]);
    const [journey] = await readers.plan('1', '2');
    const id = journey?.journey_id as string;
    expect(await readers.follow(id)).toMatchObject({ status: 'possible', rides: ['X 5>5-15>15'] });
    for (const relationship of [TRIP.canceled, TRIP.deleted]) {
      readers.take([predict(planned, [added(relationship)])]);
      expect(await readers.follow(id)).toMatchObject({ status: 'cancelled' });
      expect(await readers.rows('1')).toEqual(['R 200']);
    }
    readers.take([predict(planned, [added(TRIP.added)])]);
    expect((await readers.follow(id)).status).toBe('possible');
  });
});

it('an unknown stop in `to` of a board is refused, and one where nothing goes gives an empty list', async () => {
  const planned = timetableOfRuns([runOf('R', [5, 15])]);
  const readers = createReaders(planned, [], { queryUpstream: respondInTurn(toPayload([], '1')) });
  expect(await readers.rows('1', { to: '2' })).toEqual(['R 5']);
  expect(await readers.rows('1', { to: '99' })).toEqual([]);
  await expect(readers.rows('1', { to: '12345' })).rejects.toMatchObject({
    code: 'STOP_NOT_FOUND',
    message: expect.stringContaining('`to`'),
  });
});
