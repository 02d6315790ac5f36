import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '#src/core/clock.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { StopRegister } from '#src/stops/register.ts';
import { Suburbs, sweepSuburbs } from '#src/stops/suburbs.ts';
import { type StopRecord, tableOf } from '#src/stops/table.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { json, startUpstream, type TestUpstream } from '#test/support/upstream.ts';

/** 14:00 in Sydney; the sweep starts eleven hours later. */
const START = '2026-11-26T03:00:00Z';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The cells of built-up Canberra are always requested. */
const CELLS_OF_CANBERRA = 96;

const known = (stop_id: string, lat: number, lng: number): StopRecord => ({
  stop_id,
  name: `Stop ${stop_id}`,
  suburb: '',
  lat,
  lng,
  modes: ['bus'],
  parent_id: null,
  is_platform: false,
});
const platform = (id: string, parent: string, name: string, suburb: string, [lat, lng]: [number, number]) => ({
  id,
  isGlobalId: true,
  type: 'platform',
  name: `${name}, ${suburb}`,
  disassembledName: `${name}, ${suburb}`,
  coord: [lat, lng],
  parent: { id, type: 'stop', name, parent: { type: 'locality', name: suburb } },
  properties: { STOP_GLOBAL_ID: parent, STOP_NAME_WITH_PLACE: `${name.split(', ')[0]}, ${suburb}` },
});
const STATION = {
  id: '200060',
  isGlobalId: true,
  type: 'stop',
  name: 'undefined, undefined',
  coord: [-33.884, 151.206],
  parent: { id: '200060', name: 'undefined, undefined', type: 'locality' },
  productClasses: [1, 5],
  properties: { STOP_GLOBAL_ID: '200060', STOP_NAME_WITH_PLACE: 'Central Station, Sydney' },
};
const PLATFORM = platform('2000321', '200060', 'Central Station, Platform 1', 'Sydney', [-33.8835, 151.2065]);
const POLE = platform('201081', 'G201081', 'Foveaux St at Elizabeth St', 'Surry Hills', [-33.885, 151.208]);
const CANBERRA = {
  ...STATION,
  id: '3345',
  coord: [-35.2789, 149.1296],
  properties: { STOP_GLOBAL_ID: '3345', STOP_NAME_WITH_PLACE: 'City Interchange, City (ACT)' },
};

let dataDir: string;
let clock: ReturnType<typeof createSimulatedClock>;
let upstream: TestUpstream;
let locations: unknown[];
let warnings: string[];
/** The number of pending timers of the sweep. */
let timers: number;
const ends: (() => unknown)[] = [];

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'suburbs-'));
  clock = createSimulatedClock(START);
  locations = [STATION, PLATFORM, POLE];
  warnings = [];
  upstream = await startUpstream((request, response) => json({ locations: near(request.url) })(request, response));
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await upstream.close();
  rmSync(dataDir, { recursive: true });
});

/** Upstream lists the stops that lie roughly within the circle. */
function near(url: string): unknown[] {
  const [lng = 0, lat = 0] = (new URLSearchParams(url.split('?')[1]).get('coord') ?? '').split(':').map(Number);
  const isNear = ({ coord }: { coord: number[] }) =>
    Math.abs((coord[0] as number) - lat) < 0.02 && Math.abs((coord[1] as number) - lng) < 0.02;
  return (locations as { coord: number[] }[]).filter(isNear);
}

const LISTED = [known('200060', -33.884, 151.206), known('201081', -33.885, 151.208), known('1', -32.9, 151.7)];

/** A service with this list of stops, which runs until it is stopped. */
function start() {
  const log = { warn: (_data: object, text: string) => void warnings.push(text) };
  const suburbs = new Suburbs(dataDir, log as never);
  const register = new StopRegister(() => tableOf(LISTED), { planner: suburbs });
  const client = createEfaClient({
    url: upstream.url,
    apiKey: 'k',
    timeoutMs: 5000,
    now: () => clock.now(),
  });
  timers = 0;
  const counted: Clock = {
    now: clock.now,
    after(delayMs, task) {
      timers++;
      return clock.after(delayMs, () => {
        timers--;
        task();
      });
    },
  };
  const end = sweepSuburbs(suburbs, {
    stops: register,
    queryUpstream: client.callUpstream,
    clock: counted,
    log: log as never,
  });
  ends.push(end, () => client.close());
  return { suburbs, register, end };
}

/** Advances the clock in steps of 30 seconds, waiting each time for the sweep to set its next timer. */
async function pass(ms: number) {
  for (const until = clock.now() + ms; clock.now() < until; ) {
    await clock.advance(30_000);
    while (timers === 0) await new Promise(setImmediate);
  }
}
const requestedCoords = () => upstream.requests.map((url) => new URLSearchParams(url.split('?')[1]).get('coord'));

describe('the suburb sweep', () => {
  it('the suburb sweep requests each cell with stops once, and Canberra, only at night', async () => {
    start();
    await pass(10 * HOUR_MS);
    expect(upstream.requests).toEqual([]);
    await pass(3 * HOUR_MS);
    const sent = requestedCoords();
    expect(new Set(sent).size).toBe(sent.length);
    expect(sent.length).toBeGreaterThan(CELLS_OF_CANBERRA - 20);
    expect(sent.length).toBeLessThan(CELLS_OF_CANBERRA + 20);
    const cellOfCentral = sent.filter((coord) => coord?.startsWith('151.2'));
    expect(cellOfCentral).toHaveLength(1);
    await pass(DAY_MS);
    expect(upstream.requests).toHaveLength(sent.length);
  });

  it('the suburb sweep learns suburbs, the stops of Canberra, and which poles and platforms belong together', async () => {
    locations.push(CANBERRA);
    const { register } = start();
    await pass(16 * HOUR_MS);
    expect(register.get('200060')).toMatchObject({
      name: 'Central Station',
      suburb: 'Sydney',
      modes: ['train', 'bus'],
    });
    expect(register.get('2000321')).toMatchObject({
      name: 'Central Station, Platform 1',
      suburb: 'Sydney',
      parent_id: '200060',
      is_platform: true,
    });
    expect(register.get('201081')).toMatchObject({ suburb: 'Surry Hills', parent_id: 'G201081' });
    expect(register.get('G201081')).toMatchObject({ name: 'Foveaux St at Elizabeth St', suburb: 'Surry Hills' });
    expect(register.get('3345')).toMatchObject({ name: 'City Interchange', suburb: 'City (ACT)' });
    expect(register.get('1')?.suburb).toBe('');
  });

  it('the suburb sweep resumes after a crash from its saved file', async () => {
    const first = start();
    await pass(11 * HOUR_MS + 45 * 60_000);
    const before = upstream.requests.length;
    expect(before).toBeGreaterThan(60);
    first.end();
    writeFileSync(join(dataDir, 'suburbs.json.1.draft'), '{"format":1,"cells":{"0,0":');
    const second = start();
    expect(second.register.get('200060')?.suburb === 'Sydney' || second.register.get('200060')?.suburb === '').toBe(
      true,
    );
    await pass(6 * HOUR_MS);
    // Requests made since the last save are repeated.
    const sent = requestedCoords();
    expect(sent.length - new Set(sent).size).toBeLessThan(60);
    expect(second.register.get('200060')?.suburb).toBe('Sydney');
    const third = start();
    expect(third.register.get('201081')?.suburb).toBe('Surry Hills');
    expect(warnings).toEqual([]);
  });

  it('the suburb sweep starts again when its file is corrupt', async () => {
    writeFileSync(join(dataDir, 'suburbs.json'), '{"format":1,"cells":{"0,0":');
    const { register } = start();
    expect(warnings).toEqual(['suburbs.json cannot be read']);
    await pass(16 * HOUR_MS);
    expect(register.get('200060')?.suburb).toBe('Sydney');
    expect(readdirSync(dataDir)).toEqual(['suburbs.json']);
  });

  it('the suburb sweep renews data after three months and drops stops that are no longer listed', async () => {
    const { register, suburbs } = start();
    await pass(16 * HOUR_MS);
    const { length } = upstream.requests;
    locations = [{ ...STATION, properties: { STOP_NAME_WITH_PLACE: 'Central Station, Haymarket' } }];
    clock.set(clock.now() + 88 * DAY_MS);
    await pass(DAY_MS);
    expect(upstream.requests).toHaveLength(length);
    clock.set(clock.now() + 3 * DAY_MS);
    await pass(DAY_MS);
    expect(upstream.requests).toHaveLength(2 * length);
    expect(register.get('200060')?.suburb).toBe('Haymarket');
    expect(suburbs.table.get('201081')).toBeNull();
  });

  it('the suburb sweep keeps the data of a cell for which upstream lists nothing', async () => {
    const { register } = start();
    await pass(16 * HOUR_MS);
    locations = [];
    clock.set(clock.now() + 91 * DAY_MS);
    await pass(DAY_MS);
    expect(register.get('200060')?.suburb).toBe('Sydney');
  });

  it('the suburb sweep pauses for ten minutes after a failure', async () => {
    upstream.respondWith((_request, response) => response.writeHead(503).end());
    start();
    await pass(12 * HOUR_MS);
    expect(upstream.requests.length).toBeGreaterThan(3);
    expect(upstream.requests.length).toBeLessThan(9);
    expect(existsSync(join(dataDir, 'suburbs.json'))).toBe(false);
  });
});
