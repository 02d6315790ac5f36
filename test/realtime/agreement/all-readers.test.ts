import { describe, expect, it } from 'vitest';
import type { StopSpec, TripSpec } from '../feed-bytes.ts';
import { predict, trip, update } from '../prediction/predicted.ts';
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
  it('a change of what riders may do is enough to say something, and leaves the planned times', async () => {
    const readers = of(ofFeed({ stopId: '2', pickupType: NO }));
    expect(await readers.rows('2', { cancelled: 'include' })).toEqual(['R 15 cancelled']);
    expect(await readers.rows('1')).toEqual(['R 5']);
  });
});
