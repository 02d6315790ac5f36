import { expect, it } from 'vitest';
import type { NetworkIndex } from '#sandbox/network/network-index.ts';
import { nextDepartures } from '#sandbox/timetable/departures.ts';
import { callState } from '#sandbox/timetable/realtime.ts';
import { plannedMinuteSeconds, type Run, realtimeTripId } from '#sandbox/timetable/run.ts';
import { timetableAround } from '#sandbox/timetable/timetable.ts';
import { type Body, createSandboxService, MIDNIGHT } from './sandbox-service.ts';

type Call = NonNullable<Body['departures'][0]['calls']>[0];

const MINUTE_MS = 60_000;
/** `AGREEMENT_PAIRS=10000 vitest run test/realtime/agreement` covers the whole day. */
const PAIRS = Number(process.env.AGREEMENT_PAIRS ?? 120);

/** Central, Town Hall, Circular Quay, Parramatta, Manly, Bondi Junction. */
const BUSY = ['200060', '200070', '200020', '215020', '209573', '202210'];

/** The number of departures that a board with `to` examines: fewer than three pages hold. */
const LOOKED_AT = 80;
/** More than the longest board examines. */
const ALL = 400;
/** Pairs spread over a week. */
const TO_PAIRS = PAIRS < 10_000 ? 24 : 600;

it(`boards with \`to\` list exactly the runs that call there later, in order of departure, ${TO_PAIRS} times`, async () => {
  const service = await createSandboxService();
  const index = service.network;
  let shown = 0;
  for (let n = 0; n < TO_PAIRS; n++) {
    // All times of the day, over a week.
    const now = MIDNIGHT + ((n * 7 * 24 * 60) / TO_PAIRS) * MINUTE_MS;
    const nowSeconds = Math.floor(now / MINUTE_MS) * 60;
    service.advanceTo(nowSeconds * 1000);
    const stop = n % 2 === 0 ? BUSY[(n / 2) % BUSY.length] : service.stopIds[(n * 37) % service.stopIds.length];
    const home = index.stopById.get(stop ?? '');
    const leaving = nextDepartures(timetableAround(nowSeconds), {
      points: home?.points ?? [],
      isWanted: () => true,
      atSeconds: nowSeconds,
      isForNow: true,
      nowSeconds,
      count: ALL,
    });
    const one = leaving[(n * 7) % Math.max(1, Math.min(LOOKED_AT, leaving.length))];
    const further = one?.run.pattern.points.slice(one.call + 1) ?? [];
    const to = further[(n * 3) % Math.max(1, further.length)]?.home;
    if (!stop || !to || to === home) continue;

    const expected = leaving.flatMap((departure, place) => {
      const { run, call, state } = departure;
      if (state.kind === 'cancelled') return [];
      const isThere = (other: number) => {
        const there = callState(run, other, nowSeconds);
        const isCut = there.kind === 'cancelled' && state.kind !== 'extra';
        const point = there.kind === 'live' ? there.point : run.pattern.points[other];
        return other > call && point?.home === to && !isCut;
      };
      const arrival = run.pattern.points.findIndex((_, other) => isThere(other));
      const leaves = 'estimatedSeconds' in state ? state.estimatedSeconds : departure.minuteSeconds;
      if (arrival === -1 || leaves < nowSeconds - 60) return [];
      const line = run.pattern.line.route ?? run.pattern.line.number;
      return [{ place, leaves, row: [line, leaves, plannedMinuteSeconds(run, arrival)].join(' ') }];
    });
    const limit = 1 + (n % 12);
    const { departures } = await service.direct({ stop, modes: 'all', to: to.id, limit: String(limit) });
    const seconds = (time: string | null | undefined) => Date.parse(time ?? '') / 1000;
    const leaves = departures.map(({ scheduled_at, realtime_at }) => seconds(realtime_at ?? scheduled_at));
    const rows = departures.map(({ route, arrives_at }, index) =>
      [route, leaves[index], seconds(arrives_at)].join(' '),
    );
    const first = expected.map((one) => one.leaves).sort((a, b) => a - b);
    const near = expected.filter(({ place }) => place < LOOKED_AT);
    const isFull = rows.length >= Math.min(limit, near.length);
    const others = rows.filter((row) => !expected.some((one) => one.row === row));
    expect({ nowSeconds, stop, to: to.id, limit, others, isFull, leaves }).toMatchObject({
      others: [],
      isFull: true,
      leaves: first.slice(0, rows.length),
    });
    shown += rows.length;
  }
  expect(shown).toBeGreaterThan(TO_PAIRS / 2);
}, 600_000);

/** The runs that start within half a day of `from`. */
function runsById({ patterns }: NetworkIndex, from: number): Map<string, Run> {
  const runs = patterns.flatMap(timetableAround(from / 1000));
  const near = runs.filter(({ startSeconds }) => Math.abs(startSeconds - from / 1000) < 12 * 3600);
  return new Map(near.map((run) => [realtimeTripId(run), run]));
}

it('a followed run makes the calls of the sandbox at their live times, on any instance and past midnight', async () => {
  const service = await createSandboxService();
  const index = service.network;
  const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');
  // 23:20 and 08:00 in Sydney.
  for (const from of [MIDNIGHT - 40 * MINUTE_MS, MIDNIGHT + 8 * 60 * MINUTE_MS]) {
    service.advanceTo(from);
    const { departures } = await service.direct({ stop: '200060', modes: 'all', limit: '15', include: 'ids,calls' });
    const followed = departures.filter(({ run_id, is_live }) => run_id && is_live);
    const runs = runsById(index, from);
    let shown = 0;
    for (const minutes of [0, 12, 30]) {
      const now = from + minutes * MINUTE_MS;
      service.advanceTo(now);
      for (const { run_id, trip_id } of followed) {
        const run = runs.get(trip_id ?? '');
        if (!run) continue;
        const times = run.pattern.points.map((_, call) => callState(run, call, now / 1000));
        const last = times.at(-1);
        const found = await service.run(run_id ?? '').catch(({ code }) => code);
        if (last?.kind === 'live' && last.estimatedSeconds * 1000 < now - 12 * MINUTE_MS) {
          expect(found).toBe('RUN_NOT_FOUND');
          continue;
        }
        if (found === 'RUN_NOT_FOUND') continue;
        shown++;
        const planned = times.map((_, call) => isoOf(plannedMinuteSeconds(run, call)));
        expect(found.calls.map((call: Call) => call.departs_at ?? call.arrives_at)).toEqual(planned);
        const late = found.calls.filter((call: Call, n: number) => {
          const [state, realtime] = [times[n], call.departs_at_realtime ?? call.arrives_at_realtime];
          const isAhead = state?.kind === 'live' && state.estimatedSeconds * 1000 > now + MINUTE_MS;
          return isAhead && Math.abs(Date.parse(realtime ?? '') / 1000 - state.estimatedSeconds) > 60;
        });
        expect({ trip_id, late }).toEqual({ trip_id, late: [] });
      }
    }
    expect(shown).toBeGreaterThan(15);
  }
});

it('an arrivals board lists each run that ends at the stop, at the time and platform its departures give', async () => {
  const service = await createSandboxService();
  const index = service.network;
  let shown = 0;
  for (let n = 0; n < 12; n++) {
    service.advanceTo(MIDNIGHT + (5 + n * 1.5) * 60 * MINUTE_MS);
    const stop = BUSY[n % BUSY.length] ?? '';
    const { departures } = await service.direct({ stop, modes: 'all', limit: '6', include: 'ids,calls' });
    for (const { calls, trip_id, route } of departures) {
      const last = calls?.at(-1);
      const home = index.pointById.get(last?.stop_id ?? '')?.home;
      if (!last?.arrives_at || !home || !trip_id || last.cancelled) continue;
      const [date, time] = new Date(last.arrives_at).toLocaleString('sv', { timeZone: 'Australia/Sydney' }).split(' ');
      const sent = { date: date?.replaceAll('-', '') ?? '', time: time?.slice(0, 5).replace(':', '') ?? '' };
      const arrivals = await service.arrivals({
        stop: home.id,
        modes: 'all',
        limit: '50',
        include: 'ids',
        ...sent,
      });
      expect(arrivals.find((arrival) => arrival.trip_id === trip_id)).toMatchObject({
        route,
        scheduled_at: last.arrives_at,
        realtime_at: last.arrives_at_realtime,
        platform: last.platform,
        origin: expect.any(String),
      });
      shown++;
    }
  }
  expect(shown).toBeGreaterThan(30);
});

it('followed journeys match their vehicles, missed changes included, without upstream calls when feeds have every ride', async () => {
  const service = await createSandboxService();
  const index = service.network;
  const PAIRS = [
    ['202020', '209573'],
    ['214710', '200020'],
    ['200070', '202210'],
    ['215020', '209573'],
    ['200060', '206710'],
    ['209573', '215020'],
  ];
  const counts = { shown: 0, withoutCall: 0, missed: 0, judged: 0, lost: 0 };
  for (const hours of [-0.7, 7.5, 8.2, 17]) {
    const from = MIDNIGHT + Math.round(hours * 60) * MINUTE_MS;
    service.advanceTo(from);
    const planned = await Promise.all(
      PAIRS.map(([start = '', to = '']) =>
        service.trips({ from: start, to, include: 'ids', path: 'none' }).catch(() => []),
      ),
    );
    const journeys = planned.flat().filter((journey) => journey.journey_id);
    const runs = runsById(index, from);
    for (const minutes of [0, 5, 17, 33, 52]) {
      const now = from + minutes * MINUTE_MS;
      service.advanceTo(now);
      for (const { journey_id: id, legs, arrives_at } of journeys) {
        const found = await service.follow(id ?? '').catch(({ code }) => code);
        if (found === 'JOURNEY_NOT_FOUND') {
          expect(Date.parse(arrives_at)).toBeLessThan(now);
          continue;
        }
        counts.shown++;
        if (found.callCount === 0) counts.withoutCall++;
        expect(found.callCount).toBeLessThanOrEqual(2);
        const rides = found.journey.legs.filter(({ mode }: { mode: string }) => mode !== 'walk');
        if (found.callCount === 0 && counts.withoutCall % 20 === 0) {
          const { journey } = await service.follow(id ?? '', { include: 'calls' });
          for (const { mode, route, calls, alerts, origin, destination } of journey.legs) {
            expect(alerts).toEqual(mode === 'train' && route === 'T1' ? ['Of the line'] : []);
            const ends = mode === 'walk' ? [] : [calls?.[0]?.stop_id, calls?.at(-1)?.stop_id];
            expect(ends).toEqual(mode === 'walk' ? [] : [origin.stop_id, destination.stop_id]);
          }
        }
        expect(rides.map(({ trip_id }: { trip_id: string }) => trip_id)).toEqual(
          legs.filter(({ mode }) => mode !== 'walk').map(({ trip_id }) => trip_id),
        );
        // The sandbox knows when each ride departs and arrives.
        const truths = rides.map((ride: (typeof legs)[0]) => {
          const run = runs.get(ride.trip_id ?? '');
          const secondsAt = (stopId: string) => {
            const call = run ? run.pattern.points.findIndex((point) => point.id === stopId) : -1;
            const state = run && call >= 0 ? callState(run, call, now / 1000) : null;
            return state?.kind === 'live' ? state.estimatedSeconds : null;
          };
          return { leaves: secondsAt(ride.origin.stop_id), arrives: secondsAt(ride.destination.stop_id) };
        });
        const wrong = rides.filter((ride: (typeof legs)[0] & { found: boolean }, n: number) => {
          if (!ride.found) counts.lost++;
          const [told, truth] = [ride.destination.arrives_at_realtime, truths[n]?.arrives];
          return told && truth && truth * 1000 > now && Math.abs(Date.parse(told) / 1000 - truth) > 60;
        });
        expect(wrong).toEqual([]);
        for (const [n, change] of found.changes.entries()) {
          const [before, next] = [truths[n], truths[n + 1]];
          const walkSeconds = found.journey.legs
            .slice(change.leg + 1, change.next_leg)
            .reduce((sum: number, { duration_minutes: one }: { duration_minutes: number }) => sum + one * 60, 0);
          expect(change.status === 'missed').toBe(change.spare_seconds < 0 || found.status === 'cancelled');
          if (change.status === 'missed') counts.missed++;
          if (!before?.arrives || !next?.leaves || next.leaves * 1000 < now) continue;
          counts.judged++;
          // Walks here are rounded to whole minutes.
          expect(Math.abs(next.leaves - before.arrives - walkSeconds - change.spare_seconds)).toBeLessThanOrEqual(30);
        }
        const isBroken = ['missed', 'cancelled'].includes(found.status);
        expect(found.next_journeys !== null).toBe(isBroken);
      }
    }
  }
  expect(counts.shown).toBeGreaterThan(100);
  expect(counts.withoutCall).toBeGreaterThan(10);
  expect(counts.judged).toBeGreaterThan(20);
  expect(counts.missed).toBeGreaterThan(0);
}, 600_000);
