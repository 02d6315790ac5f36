import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  parseDepartureMonitor,
  parseJourney,
  parseLeg,
  parseLocations,
  parseStopEvent,
  parseTrip,
} from '#src/efa/payload.ts';

const HUGE = 100_000;

/** A list that counts how many of its elements are read. */
function watchedList(element: unknown) {
  const list = Array<unknown>(HUGE).fill(element);
  const read = new Set<string>();
  const get = (target: unknown[], name: string | symbol, receiver: unknown) => {
    if (typeof name === 'string' && /^\d+$/.test(name)) read.add(name);
    return Reflect.get(target, name, receiver);
  };
  return { list: new Proxy(list, { get }), read };
}

const transportation = {};
const end = { id: '1' };

describe('an excessively long list', () => {
  it.each([
    ['modes of a place', (list: unknown) => parseStopEvent({ transportation, location: { modes: list } })],
    ['statuses', (list: unknown) => parseStopEvent({ transportation, realtimeStatus: list })],
    ['notices', (list: unknown) => parseStopEvent({ transportation, infos: list })],
    ['links of a notice', (list: unknown) => parseStopEvent({ transportation, infos: [{ infoLinks: list }] })],
    ['walks', (list: unknown) => parseLeg({ origin: end, destination: end, transportation, footPathInfo: list })],
    ['messages', (list: unknown) => parseTrip({ systemMessages: list })],
    ['departures', (list: unknown) => parseDepartureMonitor({ stopEvents: list })],
    ['journeys', (list: unknown) => parseTrip({ journeys: list })],
  ])('only the first elements of an excessively long list are read: %s', (_name, parse) => {
    for (const element of [1, null, 'x', {}]) {
      const { list, read } = watchedList(element);
      parse(list);
      expect(read.size).toBeGreaterThan(0);
      expect(read.size).toBeLessThanOrEqual(200);
    }
  });
});

describe('a journey with too many legs', () => {
  it('a journey with excessively many legs is not read, because a truncated one would be wrong', () => {
    const legs = (count: number) => parseJourney({ legs: Array(count).fill({}) }) !== undefined;
    expect([legs(0), legs(1), legs(20), legs(21)]).toEqual([false, true, true, false]);
  });
});

describe('a parsed response', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: NodeJS.GCFunction = runInNewContext('gc');
  const record = { coords: Array.from({ length: 1000 }, (_, index) => [index, index]) };
  const records = JSON.stringify(Array(20).fill(record));

  it.each([
    ['departures', () => parseDepartureMonitor({ stopEvents: JSON.parse(records) })],
    ['places', () => parseLocations({ locations: JSON.parse(records) })],
    ['journeys', () => parseTrip({ journeys: JSON.parse(records) })],
    ['legs', () => parseJourney({ legs: JSON.parse(records) })],
  ])('a parsed response is freed without a full garbage collection: %s', (_name, parse) => {
    parse();
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let times = 0; times < 5; times++) parse();
    collectGarbage({ type: 'minor' });
    collectGarbage({ type: 'minor' });
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(3e6);
  });
});
