import { describe, expect, it } from 'vitest';
import { isBeyondFeeds, listNeededFeeds } from '#src/boards/boards.ts';
import type { Departure } from '#src/transit/departure.ts';
import { MODES } from '#src/transit/mode.ts';
import { departure, pageOf } from '#test/support/departure.ts';

const NOW = new Date('2026-04-15T00:00:00Z').getTime();
const MINUTE_MS = 60_000;
const bus = departure({ runId: '58124477', network: 5, plannedAt: NOW + 10 * MINUTE_MS });
const train: Departure = { ...bus, mode: 'train', route: 'T4', network: 1 };
const cruise: Departure = { ...bus, mode: 'ferry', route: 'CCCZ', network: 99, runId: null };
const regionalBus: Departure = { ...bus, network: 33 };
const timelineOf = (...seen: Departure[]) => [pageOf(seen, { retrievedAt: NOW })];

describe('the feeds that a board needs', () => {
  it('are those of the departures seen at the stop, of the wanted modes', () => {
    expect(listNeededFeeds(timelineOf(bus, train), [...MODES])).toEqual(['buses', 'sydneytrains']);
    expect(listNeededFeeds(timelineOf(bus, train), ['bus'])).toEqual(['buses']);
  });

  it('are all of the modes where no departure has been seen', () => {
    expect(listNeededFeeds(timelineOf(train), ['bus'])).toEqual(['buses']);
  });

  it('are none where only departures without a feed have been seen', () => {
    expect(listNeededFeeds(timelineOf(cruise), ['ferry'])).toEqual([]);
  });
});

describe('a departure without a feed', () => {
  it('that may be tracked is left to the departure monitor within the hour', () => {
    expect(isBeyondFeeds(regionalBus, NOW)).toBe(true);
    expect(isBeyondFeeds({ ...regionalBus, plannedAt: NOW + 90 * MINUTE_MS }, NOW)).toBe(false);
    expect(isBeyondFeeds({ ...regionalBus, state: { kind: 'cancelled' } }, NOW)).toBe(false);
    expect(isBeyondFeeds(bus, NOW)).toBe(false);
  });

  it('that no vehicle can be tracked for, such as a cruise, is shown as planned', () => {
    expect(isBeyondFeeds(cruise, NOW)).toBe(false);
    expect(isBeyondFeeds({ ...cruise, state: { kind: 'live', leavesAt: cruise.plannedAt } }, NOW)).toBe(true);
  });
});
