import { expect, it } from 'vitest';
import { board, type Leg, type StopEvent, sandboxAt, trip } from '../requests.ts';

const WEDNESDAY_8AM = '2026-11-17T21:00:00Z';
const DOGWOOD = 'G200400';
const ELM = 'G200500';

async function eventsAt(stop: string): Promise<StopEvent[]> {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { stopEvents = [] } = await board(sandbox, stop);
  return stopEvents.filter((event) => !event.isCancelled && !event.realtimeStatus?.includes('EXTRA_TRIP'));
}

async function ridesBetween(from: string, to: string): Promise<Leg[]> {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { journeys = [] } = await trip(sandbox, from, to, { calcNumberOfTrips: '12' });
  return journeys.flatMap(({ legs }) => legs.filter((leg) => leg.transportation.product.class < 99));
}

it('sandbox boards give the accessibility of a bus, live or planned, and that of the stop', async () => {
  for (const [stop, access, WheelchairAccess] of [
    [DOGWOOD, '0', 'true'],
    [ELM, '1', 'false'],
  ] as const) {
    const events = await eventsAt(stop);
    const live = events.filter((event) => event.isRealtimeControlled);
    expect(live.length).toBeGreaterThan(0);
    expect(live.length).toBeLessThan(events.length);
    for (const { isRealtimeControlled, properties, transportation } of events) {
      const vehicle = isRealtimeControlled ? { AVMLowFloorVeh: access } : { PlanWheelChairAccess: access };
      const { RealtimeTripId: _, AVMSTripID: __, ...rest } = properties;
      expect(rest).toEqual({ WheelchairAccess, ...vehicle });
      const isLowFloor = isRealtimeControlled && access === '1';
      expect(transportation.properties.attributes).toEqual(isLowFloor ? ['AVM_LOWFLOORVEHICLE'] : undefined);
    }
  }
});

it('sandbox boards give no accessibility of trains and coaches', async () => {
  const events = await eventsAt('200200');
  expect(new Set(events.map((event) => event.transportation.product.class))).toEqual(new Set([1, 7]));
  for (const { properties } of events) {
    expect(properties).not.toHaveProperty('AVMLowFloorVeh');
    expect(properties).not.toHaveProperty('PlanWheelChairAccess');
  }
});

it('sandbox rides have PlanWheelChairAccess unless the timetable lacks it', async () => {
  for (const [from, to, access] of [
    ['200100', '200300', '1'],
    [DOGWOOD, ELM, '0'],
    [ELM, DOGWOOD, '1'],
    ['2002003', '200800', undefined],
  ] as const) {
    const rides = await ridesBetween(from, to);
    expect(rides.length).toBeGreaterThan(0);
    for (const { properties, transportation } of rides) {
      expect(properties?.PlanWheelChairAccess).toBe(access);
      const isPlanned = access === '1';
      expect(transportation.properties.attributes).toEqual(isPlanned ? ['PLAN_WHEELCHAIRACCESS'] : undefined);
    }
  }
});

it('run IDs on sandbox boards are properties of the event, with AVMSTripID only on runs that report', async () => {
  const events = await eventsAt('200100');
  expect(new Set(events.map((event) => event.isRealtimeControlled))).toEqual(new Set([true, undefined]));
  for (const { isRealtimeControlled, properties, transportation } of events) {
    expect(properties.RealtimeTripId).toBeTruthy();
    expect(properties.AVMSTripID).toBe(isRealtimeControlled ? properties.RealtimeTripId : undefined);
    expect(transportation.properties).not.toHaveProperty('RealtimeTripId');
    expect(transportation.properties).not.toHaveProperty('AVMSTripID');
  }
});

it('run IDs in sandbox journeys are properties of transportation', async () => {
  const rides = await ridesBetween('200100', '200300');
  expect(rides.some((ride) => ride.isRealtimeControlled)).toBe(true);
  for (const { isRealtimeControlled, properties, transportation } of rides) {
    const { RealtimeTripId, AVMSTripID } = transportation.properties;
    expect(RealtimeTripId).toBeTruthy();
    expect(AVMSTripID).toBe(isRealtimeControlled ? RealtimeTripId : undefined);
    expect(properties).not.toHaveProperty('RealtimeTripId');
  }
});

it('sandbox runs of lines that never report have only the ID of the schedule', async () => {
  const coach = (await eventsAt('200200')).find((event) => event.transportation.product.class === 7);
  expect(coach?.properties).toEqual({ WheelchairAccess: 'true', RealtimeTripId: expect.stringMatching(/^165/) });
  const [ride] = await ridesBetween('2002003', '200800');
  expect(ride?.transportation.properties).toMatchObject({ RealtimeTripId: expect.stringMatching(/^165/) });
  expect(ride?.transportation.properties).not.toHaveProperty('AVMSTripID');
});
