import { expect, it } from 'vitest';
import { LineCatalogue } from '#src/lines/lines.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { datesFrom, scheduleFile } from '../support/schedule-file.ts';
import { currentOf, timetableOf } from '../support/timetable.ts';

const days = datesFrom('20261120', '20261212');
const trip = (id: string, route: string, from: string, to: string) => ({
  id,
  route,
  days,
  calls: [
    [from, '08:00'],
    [to, '08:30'],
  ] as [string, string][],
});
/** The number 3 of two agencies: one in the city, one by the sea. */
const buses = scheduleFile('buses', {
  stops: ['city', 'hill', 'sea', 'dune'].map((id) => ({ id })),
  routes: [
    { id: 'A3', mode: 'bus', shortName: '3', agencyId: '1001' },
    { id: 'B3', mode: 'bus', shortName: '3', agencyId: '1002' },
  ],
  trips: [trip('a', 'A3', 'city', 'hill'), trip('b', 'B3', 'sea', 'dune')],
});
const trains = scheduleFile('sydneytrains', {
  stops: ['east', 'west'].map((id) => ({ id })),
  routes: [{ id: 'T4', mode: 'train' }],
  trips: [trip('t', 'T4', 'east', 'west')],
});
const lines = new LineCatalogue(new StopRegister(noStops, { timetable: currentOf(timetableOf(buses, trains)) }));
const bus = { mode: 'bus', route: '3', runId: null } as const;
const train = { mode: 'train', route: 'T4', runId: null, stopId: 'elsewhere' } as const;

it.each([
  ['by its run, wherever that is boarded', { ...bus, runId: 'b', stopId: 'elsewhere' }, '1002_3'],
  ['by its number and stop, among lines of several operators', { ...bus, stopId: 'city' }, '1001_3'],
  ['by its short name alone on rails, where no other line can have it', train, 'train_T4'],
  ['as it is already known', { ...train, lineId: 'train_T9' }, 'train_T9'],
])('the line of a ride is found %s', (_how, ride, id) => {
  expect(lines.findIdOf(ride)).toBe(id);
});

it.each([
  ['a bus whose number no line has at its stop', { ...bus, stopId: 'elsewhere' }],
  ['a line that the timetable does not have', { ...train, route: 'T99' }],
  ['a vehicle of another mode with the same name', { ...train, mode: 'metro' as const }],
  ['a walk', { ...train, mode: 'walk' as const, route: null }],
])('the line of %s is unknown', (_name, ride) => {
  expect(lines.findIdOf(ride)).toBeNull();
});
