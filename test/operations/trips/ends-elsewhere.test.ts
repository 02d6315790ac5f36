import { describe, expect, it } from 'vitest';
import { parseTrip } from '#src/efa/payload.ts';
import type { JsonObject } from '#src/efa/response/field.ts';
import { mapJourneys } from '#src/journeys/planner/map.ts';
import type { StopRecord } from '#src/stops/table.ts';
import { listPairs } from '#test/support/pairs.ts';

const SEVEN_HILLS = '214710';

/** The fixture's two journeys: an on-demand bus that ends in Blacktown, and a train to Seven Hills. */
const both = listPairs('trips').find(({ name }) => name === 'on-demand-that-ends-elsewhere-is-left-out')?.upstream
  .trip as JsonObject & { journeys: unknown[] };
const booked = { ...both, journeys: both.journeys.slice(0, 1) };

/** A register with the position of Seven Hills. */
const stops = (lat: number, lng: number) => ({
  get: (stopId: string): StopRecord | null =>
    stopId === SEVEN_HILLS
      ? { stop_id: stopId, name: '', suburb: '', lat, lng, modes: [], parent_id: null, is_platform: false }
      : null,
});
const knowsNothing = { get: () => null };

const map = (payload: JsonObject, to: string | [number, number], register: { get(id: string): StopRecord | null }) =>
  mapJourneys(parseTrip(payload), { from: '200070', to, at: null, cancelled: 'exclude' }, register);

describe('an on-demand ride that ends elsewhere', () => {
  it('an on-demand ride that ends kilometres from the requested stop is left out and counted', async () => {
    const { journeys, leftOut } = await map(both, SEVEN_HILLS, knowsNothing);
    expect(journeys.map(({ legs }) => legs.at(-1)?.mode)).toEqual(['train']);
    expect(leftOut).toEqual({ 'ends elsewhere': 1 });
  });

  it('a journey whose on-demand ride ends elsewhere is left out when the register has the position of the destination', async () => {
    const found = map(booked, SEVEN_HILLS, stops(-33.7744, 150.9361));
    await expect(found).rejects.toMatchObject({ code: 'NO_JOURNEYS_FOUND' });
  });

  it('an on-demand ride that ends kilometres from the requested position is left out', async () => {
    await expect(map(booked, [-33.7744, 150.9361], knowsNothing)).rejects.toMatchObject({ code: 'NO_JOURNEYS_FOUND' });
    expect((await map(booked, [-33.7685, 150.9079], knowsNothing)).journeys).toHaveLength(1);
  });

  it('an on-demand ride that ends near the requested stop is listed', async () => {
    const { journeys, leftOut } = await map(both, SEVEN_HILLS, stops(-33.7695, 150.91));
    expect([journeys.length, leftOut]).toEqual([2, {}]);
  });
});
