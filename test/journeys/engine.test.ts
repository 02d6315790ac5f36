import { afterEach, beforeEach, expect, it } from 'vitest';
import { JourneyEngine } from '#src/journeys/engine.ts';
import { type EngineQuery, TOOK_TOO_LONG } from '#src/journeys/engine-messages.ts';
import { openEngine } from '#src/journeys/engine-thread.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { ONE_BUS, timetableOf } from '#test/support/timetable.ts';

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const log = { warn() {}, error() {} };
let engine: JourneyEngine;
beforeEach(() => {
  engine = new JourneyEngine({ log, now: () => EIGHT });
});
afterEach(() => engine.close());

const timetable = timetableOf(ONE_BUS);
const end = (id: string) => ({
  stops: [{ stop: timetable.findStop(id) as number, seconds: 0 }],
  withAround: false,
});
const anyRide = { at: EIGHT, now: EIGHT, modes: 127, isWheelchair: false, maxRides: 3, limit: 1 };
const query: EngineQuery = {
  ...anyRide,
  from: end('1'),
  to: end('2'),
  isArrival: false,
  walkSeconds: null,
  avoidedStops: [],
};

/** A busy machine may take longer than a search may wait to start a thread. */
async function planWhenReady() {
  await expect.poll(() => engine.search('plan', query).catch(() => null)).not.toBeNull();
  return (await engine.search('plan', query)).found;
}

it('the journey engine answers 503 when its thread dies, and plans with the next timetable', async () => {
  // A thread that cannot read its timetable exits.
  engine.use({ packed: new SharedArrayBuffer(8) } as Timetable);
  await expect(engine.search('plan', query)).rejects.toMatchObject({ statusCode: 503 });
  engine.use(timetable);
  expect(await planWhenReady()).toMatchObject([{ departsAt: EIGHT + 600_000, arrivesAt: EIGHT + 2_400_000 }]);
});

it('a search ends by itself at its deadline', () => {
  const search = openEngine(timetable.packed).search;
  expect(() => search('plan', query, Date.now() - 1)).toThrow(TOOK_TOO_LONG);
  expect(search('plan', query)).toHaveLength(1);
});
