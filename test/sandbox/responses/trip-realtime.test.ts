import { expect, it } from 'vitest';
import { board, type LegEnd, sandboxAt, trip } from '../requests.ts';

const WEDNESDAY_8AM = '2026-11-17T21:00:00Z';
const AT_8AM = { itdDate: '20261118', itdTime: '0800' };

it('a run is equally late in a sandbox journey and on its board, and legs that are not live have estimates too', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { stopEvents = [] } = await board(sandbox, '200100', AT_8AM);
  const { journeys = [] } = await trip(sandbox, '200100', '200300', { ...AT_8AM, calcNumberOfTrips: '12' });
  const legs = journeys.flatMap((journey) => journey.legs);
  const live = legs.filter((leg) => leg.isRealtimeControlled);
  expect(live.length).toBeGreaterThan(0);
  expect(live.length).toBeLessThan(legs.length);
  for (const leg of legs) {
    const { RealtimeTripId } = leg.transportation.properties;
    const event = stopEvents.find((candidate) => candidate.properties.RealtimeTripId === RealtimeTripId);
    expect(leg.isRealtimeControlled).toBe(event?.isRealtimeControlled);
    expect(leg.origin.departureTimeEstimated).toBe(event?.departureTimeEstimated ?? leg.origin.departureTimePlanned);
    expect(leg.stopSequence?.at(-1)?.arrivalTimeEstimated).toBe(leg.destination.arrivalTimeEstimated);
  }
});

it('estimates of a sandbox walk have the delay of the ride before it, or after it for a leading walk', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const lateness = (end: LegEnd | undefined, what: 'departure' | 'arrival') =>
    Date.parse(end?.[`${what}TimeEstimated`] ?? '') - Date.parse(end?.[`${what}TimePlanned`] ?? '');
  const changing = (await trip(sandbox, '200100', 'G200500', { ...AT_8AM, calcNumberOfTrips: '3' })).journeys ?? [];
  const starting = (await trip(sandbox, '2001002', '200300', { ...AT_8AM, calcNumberOfTrips: '3' })).journeys ?? [];
  for (const { legs } of changing)
    expect(lateness(legs[1]?.origin, 'departure')).toBe(lateness(legs[0]?.destination, 'arrival'));
  for (const { legs } of starting)
    expect(lateness(legs[0]?.destination, 'arrival')).toBe(lateness(legs[1]?.origin, 'departure'));
  expect(changing.some(({ legs }) => lateness(legs[1]?.origin, 'departure') > 0)).toBe(true);
  expect(starting.some(({ legs }) => lateness(legs[0]?.origin, 'departure') > 0)).toBe(true);
});

it('a sandbox journey does not use a run that its board shows as cancelled', async () => {
  const cancelled: string[] = [];
  for (let hour = 0; hour < 150; hour++) {
    const sandbox = await sandboxAt(new Date(Date.parse(WEDNESDAY_8AM) + hour * 3600_000).toISOString());
    const { stopEvents = [] } = await board(sandbox, '200100');
    const gone = stopEvents.filter((event) => event.isCancelled).map((event) => event.properties.RealtimeTripId ?? '');
    const { journeys = [] } = await trip(sandbox, '200100', '200300');
    const used = journeys.flatMap(({ legs }) => legs.map((leg) => leg.transportation.properties.RealtimeTripId));
    expect(gone.filter((id) => used.includes(id))).toEqual([]);
    cancelled.push(...gone);
    await sandbox.close();
  }
  expect(cancelled.length).toBeGreaterThan(0);
});
