import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTrip } from '#src/efa/payload.ts';
import type { JsonObject } from '#src/efa/response/field.ts';
import { mapJourneys } from '#src/journeys/planner/map.ts';
import type { StopRecord } from '#src/stops/table.ts';
import { isPossible, type Journey } from '#src/transit/journey.ts';
import { bestKnown, formatTimestamp } from '#src/transit/time.ts';
import { listPairs } from '#test/support/pairs.ts';

/** A timestamp on the day of the test, `seconds` after its start. */
const timestamp = (seconds: number) => formatTimestamp(Date.parse('2026-04-15T06:00:00Z') + seconds * 1000);

/** Whether a leg begins before the previous one ends, by best-known times. */
function runsBackwards({ legs }: Journey): boolean {
  return legs.some((leg, index) => {
    const before = legs[index - 1];
    return before !== undefined && bestKnown(before.destination) > bestKnown(leg.origin);
  });
}

/** A ride as upstream reports it, and the way to the next ride. Times are in seconds. */
const ride = fc.record({
  isLive: fc.boolean(),
  waits: fc.integer({ min: 0, max: 900 }),
  rides: fc.integer({ min: 60, max: 1800 }),
  isLate: fc.integer({ min: -600, max: 900 }),
  walks: fc.integer({ min: 0, max: 600 }),
  spares: fc.integer({ min: 0, max: 300 }),
  way: fc.constantFrom('same platform', 'told after', 'told before', 'not told', 'walk leg'),
  estimates: fc.constantFrom('follow', 'stay', 'own', 'missing'),
});
type Ride = typeof ride extends fc.Arbitrary<infer Value> ? Value : never;

const end = (id: string, kind: 'departure' | 'arrival', planned: number, estimated: number | null) => ({
  id,
  name: id,
  type: 'platform',
  coord: [-33.87, 151.2 + Number(id.slice(-1)) / 1000],
  [`${kind}TimePlanned`]: timestamp(planned),
  ...(estimated !== null && { [`${kind}TimeEstimated`]: timestamp(estimated) }),
});

/** A journey in upstream's format, and whether its own times show a missed change. */
function journeyOf(rides: readonly Ride[], leadingWalkSeconds: number | null) {
  const legs: object[] = [];
  let clock = 3600;
  let isMissed = false;
  let ready: number | null = null;
  let platform = 1;
  for (const [index, part] of rides.entries()) {
    const [planned, delay] = [clock + part.waits, part.isLive ? part.isLate : 0];
    const [departs, arrives] = [planned + delay, planned + part.rides + delay];
    if (index === 0 && leadingWalkSeconds !== null) {
      const moved = { follow: delay, own: delay + part.spares, stay: 0, missing: 0 }[part.estimates];
      legs.push(walk('2000700', '2000701', planned - leadingWalkSeconds, leadingWalkSeconds, moved, part));
    }
    if (ready !== null && ready > departs) isMissed = true;
    const before = rides[index - 1];
    legs.push({
      isRealtimeControlled: part.isLive,
      origin: end(`200070${platform}`, 'departure', planned, departs),
      destination: end(`200070${platform + 1}`, 'arrival', planned + part.rides, arrives),
      transportation: { disassembledName: 'T1', product: { class: 1 } },
      footPathInfo: [
        ...(part.way === 'told after' ? [{ position: 'AFTER', duration: part.walks }] : []),
        ...(before?.way === 'told before' ? [{ position: 'BEFORE', duration: before.walks }] : []),
      ],
    });
    platform += part.way === 'same platform' ? 1 : 2;
    const isTold = part.way !== 'same platform' && part.way !== 'not told';
    ready = arrives + (isTold ? part.walks : 0);
    clock = planned + part.rides + (isTold ? part.walks + part.spares : 0);
    if (part.way === 'walk leg') {
      const moved = { follow: delay, own: delay + part.spares, stay: 0, missing: 0 }[part.estimates];
      const from = planned + part.rides + (part.estimates === 'missing' ? part.spares : 0);
      legs.push(walk(`200070${platform - 1}`, `200070${platform}`, from, part.walks, moved, part));
    }
  }
  return { legs, isMissed };
}

function walk(from: string, to: string, planned: number, seconds: number, moved: number, { estimates }: Ride) {
  const estimate = (time: number) => (estimates === 'missing' ? null : time + moved);
  return {
    duration: seconds,
    origin: end(from, 'departure', planned, estimate(planned)),
    destination: end(to, 'arrival', planned + seconds, estimate(planned + seconds)),
    transportation: { product: { class: 99 } },
  };
}

const mapAll = async (journeys: readonly unknown[], from: string, to: string) =>
  (await mapJourneys(parseTrip({ journeys }), { from, to, at: null, cancelled: 'include' }, KNOWN_STOP)).journeys;

/** The register knows every stop except the start of the fixtures' journeys, and reports each as the destination. */
const KNOWN_STOP = {
  get: (stopId: string): StopRecord | null =>
    stopId === '200070'
      ? null
      : {
          ...{ stop_id: stopId, name: 'Seven Hills Station', suburb: '', lat: -33.7745, lng: 150.9363 },
          ...{ modes: [], parent_id: null, is_platform: true },
        },
};

describe('best-known times of legs', () => {
  it('a leg never begins before the previous one ends, unless upstream itself shows a missed change', async () => {
    const rides = fc.array(ride, { minLength: 1, maxLength: 4 });
    const leading = fc.option(fc.integer({ min: 30, max: 900 }));
    await fc.assert(
      fc.asyncProperty(rides, leading, async (parts, leadingWalkSeconds) => {
        const { legs, isMissed } = journeyOf(parts, leadingWalkSeconds);
        const [journey] = await mapAll([{ legs }], '2000701', '2000701');
        expect(journey && isPossible(journey)).toBe(!isMissed);
        if (journey && runsBackwards(journey)) expect(isMissed).toBe(true);
      }),
      { seed: 20260415, numRuns: 2000 },
    );
  });

  it.each(
    listPairs('trips')
      .filter(({ answer }) => 'body' in answer)
      .map((pair) => ({ ...pair, query: new URL(pair.request, 'http://service.test').searchParams })),
  )('best-known times of legs are in order in fixture $name', async ({ upstream, query }) => {
    const { journeys } = parseTrip(upstream.trip as JsonObject);
    for (const journey of await mapAll(journeys, query.get('from') ?? '', query.get('to') ?? '')) {
      expect(runsBackwards(journey)).toBe(!isPossible(journey));
    }
  });
});

describe('the times of a walk', () => {
  it('a walk is never live and keeps its planned times', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ride, { minLength: 2, maxLength: 3 }), async (parts) => {
        const { legs } = journeyOf(parts, 120);
        const [journey] = await mapAll([{ legs }], '2000701', '2000701');
        const walks = journey?.legs.filter(({ mode }) => mode === 'walk') ?? [];
        expect(walks.some(({ isLive }) => isLive)).toBe(false);
        const first = parts[0] as Ride;
        expect(walks[0]?.destination.plannedAt).toBe(Date.parse(timestamp(3600 + first.waits)));
      }),
      { seed: 20260415, numRuns: 200 },
    );
  });

  it('a walk has real-time times exactly when the ride it depends on has them', async () => {
    const hangsOn = ({ legs }: Journey, index: number) =>
      legs.slice(0, index).findLast(({ mode }) => mode !== 'walk')?.destination ??
      legs.find(({ mode }) => mode !== 'walk')?.origin;
    const told = ride.map((part) => ({ ...part, way: 'told after' as const }));
    await fc.assert(
      fc.asyncProperty(fc.array(told, { minLength: 2, maxLength: 3 }), async (parts) => {
        const [journey] = await mapAll([{ legs: journeyOf(parts, 120).legs }], '2000701', '2000701');
        for (const [index, leg] of journey?.legs.entries() ?? []) {
          if (!journey || leg.mode !== 'walk') continue;
          const isLive = hangsOn(journey, index)?.realtimeAt !== null;
          expect([leg.origin.realtimeAt !== null, leg.destination.realtimeAt !== null]).toEqual([isLive, isLive]);
        }
      }),
      { seed: 20260415, numRuns: 200 },
    );
  });
});
