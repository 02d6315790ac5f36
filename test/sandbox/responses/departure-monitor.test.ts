import { expect, it } from 'vitest';
import { board, type StopEvent, sandboxAt, send } from '../requests.ts';

const WEDNESDAY_8AM = '2026-11-17T21:00:00Z';

/** The departures from Birch over eight days, each seen at most an hour ahead. */
async function manyEvents(): Promise<StopEvent[]> {
  const events: StopEvent[] = [];
  for (let hour = 0; hour < 8 * 24; hour++) {
    const now = new Date(Date.parse(WEDNESDAY_8AM) + hour * 3600_000).toISOString();
    const sandbox = await sandboxAt(now);
    const { stopEvents = [] } = await board(sandbox, '200200');
    const end = Date.parse(now) + 3600_000;
    events.push(...stopEvents.filter((event) => Date.parse(event.departureTimePlanned) < end));
    await sandbox.close();
  }
  return events;
}

it('a sandbox board has 40 events in order of planned time, in whole minutes, from the requested minute on', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { stopEvents = [], systemMessages } = await board(sandbox, '200100', { itdDate: '20261118', itdTime: '0930' });
  expect(systemMessages).toEqual([]);
  expect(stopEvents).toHaveLength(40);
  const planned = stopEvents.map((event) => event.departureTimePlanned);
  expect(planned).toEqual(planned.toSorted());
  expect(planned[0]).toBe('2026-11-17T22:30:00Z');
  expect(planned.every((time) => time.endsWith(':00Z'))).toBe(true);
});

it('a sandbox board does not list runs that end at the stop', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { stopEvents = [] } = await board(sandbox, '200300');
  expect(new Set(stopEvents.map((event) => event.transportation.destination.name))).toEqual(new Set(['Alder']));
});

it('the sandbox finds a stop by its ID, its internal number and any of its platforms', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const [byId, byInternalId, byPlatform] = await Promise.all(
    ['200200', '10100002', '2002001'].map((id) => board(sandbox, id)),
  );
  expect(byId?.locations?.[0]).toMatchObject({ id: '200200', isBest: true, properties: { stopId: '10100002' } });
  expect(byInternalId).toEqual(byId);
  expect(byPlatform).toEqual(byId);
});

it('$USEPOINT$ limits a sandbox board to the platform', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { stopEvents = [] } = await board(sandbox, '2002001', { nameKey_dm: '$USEPOINT$' });
  expect(new Set(stopEvents.map((event) => event.location.id))).toEqual(new Set(['2002001']));
});

it('the first departures of a sandbox board are live, and none beyond an hour and a half', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { stopEvents = [] } = await board(sandbox, '200200');
  const live = stopEvents.filter((event) => event.isRealtimeControlled);
  expect(live.length).toBeGreaterThan(4);
  const latest = Math.max(...live.map((event) => Date.parse(event.departureTimePlanned)));
  expect(latest).toBeLessThanOrEqual(Date.parse(WEDNESDAY_8AM) + 90 * 60_000);
});

it('nothing is live on a sandbox board without TfNSWDM', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { stopEvents = [] } = await board(sandbox, '200200', { TfNSWDM: 'false' });
  expect(stopEvents.some((event) => 'isRealtimeControlled' in event)).toBe(false);
});

it('live, cancelled and scheduled sandbox events have the same keys as recordings', async () => {
  const events = await manyEvents();
  const live = events.filter((event) => event.departureTimeEstimated !== undefined);
  const cancelled = events.filter((event) => event.isCancelled);
  const silent = events.filter((event) => event.isRealtimeControlled === undefined);
  expect(live.length + cancelled.length + silent.length).toBe(events.length);

  for (const event of live) {
    expect(event.isRealtimeControlled).toBe(true);
    expect(event.realtimeStatus).toContain('MONITORED');
    expect('isCancelled' in event).toBe(false);
  }
  for (const event of silent) expect('realtimeStatus' in event || 'isCancelled' in event).toBe(false);
  for (const event of cancelled) {
    expect(event.isRealtimeControlled).toBe(true);
    expect('departureTimeEstimated' in event).toBe(false);
    const status = event.location.properties?.realtimeStatus;
    if (event.realtimeStatus?.includes('TRIP_CANCELLED')) expect(status).toEqual(['TRIP_CANCELLED']);
    else expect(status).toEqual(['DEPARTURE_CANCELLED']);
  }
  const scopes = cancelled.map((event) => event.realtimeStatus?.[0]);
  expect(new Set(scopes)).toEqual(new Set(['TRIP_CANCELLED', 'EXTRA_STOPS']));
  expect(live.some((event) => event.realtimeStatus?.[0] === 'EXTRA_TRIP')).toBe(true);
  expect(live.some((event) => event.location.properties?.platformName === 'BIR1')).toBe(true);
  const occupancies = new Set(live.map((event) => event.location.properties?.occupancy));
  expect(occupancies).toEqual(new Set([undefined, 'MANY_SEATS', 'FEW_SEATS', 'STANDING_ONLY']));
});

it('a sandbox event repeats the platform in the parent name, has every name of its line, and no short name for coaches', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { stopEvents = [] } = await board(sandbox, '200200');
  const train = stopEvents.find((event) => event.location.id === '2002001');
  expect(train).toMatchObject({
    location: {
      name: 'Birch Station, Platform 1, Birch',
      type: 'platform',
      properties: {
        platform: 'BIR1',
        platformName: 'Platform 1',
        plannedPlatformName: 'Platform 1',
        stopId: '10100002',
      },
      parent: { id: '200200', name: 'Birch Station, Platform 1, Birch', type: 'stop', parent: { type: 'locality' } },
    },
    transportation: {
      id: 'nsw:020T1: :H:sj2',
      name: 'Sydney Trains Network T1 Alder & Cedar Line',
      disassembledName: 'T1',
      number: 'T1 Alder & Cedar Line',
      product: { class: 1, iconId: 1 },
      destination: { name: 'Cedar via Birch' },
      iconId: 1,
    },
    properties: { WheelchairAccess: 'true' },
  });
  const coach = stopEvents.find((event) => event.transportation.product.class === 7);
  expect(coach?.transportation).not.toHaveProperty('disassembledName');
  expect(coach?.location.name).toBe('Birch Station, Station St, Stand A, Birch');
  expect(coach).not.toHaveProperty('isRealtimeControlled');
});

it('the sandbox excludes modes only with the checkbox, and the checkbox alone excludes all rail', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const classes = async (query: Record<string, string>) => {
    const { stopEvents = [] } = await board(sandbox, '200200', query);
    return new Set(stopEvents.map((event) => event.transportation.product.class));
  };
  expect(await classes({})).toEqual(new Set([1, 7]));
  expect(await classes({ excludedMeans: 'checkbox', exclMOT_7: '1' })).toEqual(new Set([1]));
  expect(await classes({ excludedMeans: 'checkbox', exclMOT_7: 'true', exclMOT_1: '1' })).toEqual(new Set([7]));
  expect(await classes({ exclMOT_1: '1' })).toEqual(new Set([1, 7]));
  expect(await classes({ excludedMeans: 'checkbox' })).toEqual(new Set([7]));
});

it('an unknown sandbox stop is a 200 with two empty lists', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const response = await send(sandbox, 'departure_mon', { mode: 'direct', type_dm: 'stop', name_dm: '999999' });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ version: '10.6.21.17', systemMessages: [], locations: [], stopEvents: [] });
});

it('a sandbox stop without departures keeps its location', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const decommissioned = await board(sandbox, 'G200900');
  expect(decommissioned.systemMessages).toMatchObject([{ code: -4050, text: 'no serving lines found' }]);
  expect(decommissioned.locations).toMatchObject([{ id: 'G200900', isBest: true }]);
  expect(decommissioned).not.toHaveProperty('stopEvents');
});

it('the sandbox reports a date beyond its timetable as invalid', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const farOff = await board(sandbox, '200200', { itdDate: '20270118', itdTime: '0900' });
  expect(farOff.systemMessages).toMatchObject([{ code: -4001 }]);
  expect(farOff).not.toHaveProperty('stopEvents');
});

it('the sandbox refuses every mode but direct', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const refused = await board(sandbox, '200200', { mode: 'odv' });
  expect(refused.systemMessages).toMatchObject([{ type: 'error', code: -2000, text: 'stop invalid' }]);
  expect(refused).not.toHaveProperty('stopEvents');
});

it('the sandbox board of the same request in the same minute is identical byte for byte', async () => {
  const query = { mode: 'direct', type_dm: 'any', name_dm: '200200', TfNSWDM: 'true' };
  const early = await sandboxAt('2026-11-17T21:00:01Z');
  const late = await sandboxAt('2026-11-17T21:00:58Z');
  const texts = await Promise.all(
    [early, late, early].map(async (sandbox) => (await send(sandbox, 'departure_mon', query)).text()),
  );
  expect(texts[0]).toBe(texts[1]);
  expect(texts[0]).toBe(texts[2]);
});
