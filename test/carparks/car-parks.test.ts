import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_READING_AGE_MS } from '#src/carparks/car-parks.ts';
import { fileCarParks } from '#src/carparks/store.ts';
import { MINUTE_MS } from '#src/core/clock.ts';
import { type FakeUpstream, facilityJson, fakeCarParks } from '#test/support/car-parks.ts';

const START = Date.UTC(2026, 10, 20, 2, 0, 20);
const WAIT = { waitMs: 5000 };
const all = () => true;

let now = START;
let upstream: FakeUpstream;
let carParks: ReturnType<typeof fakeCarParks>['carParks'];

/** Sets what a car park reports from now on, with the time of the reading. */
function report(id: string, overrides: Parameters<typeof facilityJson>[0] = {}): void {
  upstream.facilities.set(id, facilityJson({ id, at: now, ...overrides }));
}
const find = async (id: string) => (await carParks.get(id, WAIT))?.carParks[0] ?? null;

beforeEach(() => {
  now = START;
  ({ carParks, upstream } = fakeCarParks({ now: () => now }));
});

describe('readings', () => {
  it('a car park has the spaces that are not taken', async () => {
    report('486');
    expect(await find('486')).toMatchObject({ capacity: 216, spacesFree: 180, reportedAt: START, trend: null });
  });

  it('a car park that overflows has no free spaces, and one with a negative count of cars has all of its spaces free', async () => {
    report('1', { total: '230' });
    report('2', { total: '-4' });
    report('3', { spots: '0', total: '0' });
    const { carParks: found } = await carParks.fetch(all, WAIT);
    expect(found.map(({ id, spacesFree, capacity }) => [id, spacesFree, capacity])).toEqual([
      ['1', 0, 216],
      ['2', 216, 216],
      ['3', 0, 0],
    ]);
  });

  it('a reading older than 15 minutes is not shown, and the rest of the record stays', async () => {
    report('486', { at: START - MAX_READING_AGE_MS });
    report('6', { at: START - MAX_READING_AGE_MS - 1000 });
    expect(await find('486')).toMatchObject({ spacesFree: 180 });
    expect(await find('6')).toMatchObject({
      spacesFree: null,
      trend: null,
      capacity: 216,
      name: 'Ashfield',
      reportedAt: START - MAX_READING_AGE_MS - 1000,
    });
  });

  it('a reading from the future is not shown', async () => {
    report('486', { at: START + 6 * MINUTE_MS });
    expect(await find('486')).toMatchObject({ spacesFree: null });
  });

  it('the trend compares with the reading of half an hour before, and is null without one', async () => {
    for (const total of ['36', '40', '47', '60', '70', '72', '90']) {
      report('486', { total });
      const carPark = await find('486');
      const minutes = (now - START) / MINUTE_MS;
      if (minutes < 20) expect(carPark).toMatchObject({ trend: null, spacesChange: null });
      if (minutes === 30) expect(carPark).toMatchObject({ trend: 'filling', spacesChange: -54 });
      now += 5 * MINUTE_MS;
    }
    report('486', { total: '38' });
    expect(await find('486')).toMatchObject({ trend: 'steady', spacesChange: 2 });
  });
});

describe('calls', () => {
  it('no car park is requested upstream before a caller needs one; the first time all are, then only the needed ones', async () => {
    for (const id of ['1', '2', '3']) report(id);
    expect(upstream.calls).toEqual([]);
    await carParks.fetch(all, WAIT);
    expect(upstream.calls.sort()).toEqual(['1', '2', '3', 'list']);
    upstream.calls.length = 0;
    now += 5 * MINUTE_MS;
    report('2');
    await find('2');
    expect(upstream.calls).toEqual(['2']);
  });

  it('requests at the same time share a call, and requests within four minutes need none', async () => {
    report('486');
    await Promise.all([find('486'), find('486'), carParks.fetch(all, WAIT)]);
    now += 3 * MINUTE_MS;
    await find('486');
    expect(upstream.calls).toEqual(['list', '486']);
  });

  it('the calls of a day end at its budget, and readings are shown until they are too old', async () => {
    ({ carParks, upstream } = fakeCarParks({ now: () => now, callsADay: 240, upstream }));
    let isShown = 0;
    for (let minute = 0; minute < 22 * 60; minute++, now += MINUTE_MS) {
      for (const id of ['1', '2', '3', '4']) report(id);
      const { carParks: found } = await carParks.fetch(all, WAIT);
      isShown += found.filter(({ spacesFree }) => spacesFree !== null).length;
    }
    expect(upstream.calls.length).toBeLessThanOrEqual(240);
    expect(upstream.calls.length).toBeGreaterThan(200);
    expect(isShown).toBeGreaterThan(1000);
    expect(carParks.status()).toMatchObject({ listed: 4, callsLeft: expect.any(Number) });
  });
});

describe('failures', () => {
  beforeEach(async () => {
    for (const id of ['1', '486']) report(id);
    await carParks.fetch(all, WAIT);
    upstream.calls.length = 0;
  });

  it.each(['away', 'unusable', 'refused', 'busy'] as const)(
    'while upstream is %s, the last reading is shown for 15 minutes, and null after that',
    async (failure) => {
      upstream.failure = failure;
      for (; now <= START + MAX_READING_AGE_MS; now += MINUTE_MS) {
        expect(await find('486')).toMatchObject({ spacesFree: 180, reportedAt: START });
      }
      const found = await carParks.get('486', WAIT);
      expect(found?.carParks[0]).toMatchObject({ spacesFree: null, capacity: 216, reportedAt: START });
      expect(found?.freshness.freshUntil).toBeLessThanOrEqual(now + MINUTE_MS);
      upstream.failure = null;
      now += 10 * MINUTE_MS;
      report('486');
      expect(await find('486')).toMatchObject({ spacesFree: 180, reportedAt: now });
    },
  );

  it('an unreachable upstream is tried ever less often, down to once every four minutes', async () => {
    upstream.failure = 'away';
    for (let second = 0; second < 3600; second += 10, now += 10_000) await carParks.fetch(all, WAIT);
    expect(upstream.calls.length).toBeLessThan(60);
    expect(upstream.calls.length).toBeGreaterThan(10);
  });

  it('a car park that upstream removes is no longer listed, and is listed again once upstream has it', async () => {
    const before = upstream.facilities.get('486') as object;
    upstream.facilities.delete('486');
    now += 5 * MINUTE_MS;
    expect(await find('486')).toBeNull();
    expect((await carParks.fetch(all, WAIT)).carParks.map(({ id }) => id)).toEqual(['1']);
    now += 7 * 60 * MINUTE_MS;
    await carParks.fetch(all, WAIT);
    expect(await find('486')).toBeNull();
    upstream.facilities.set('486', before);
    now += 7 * 60 * MINUTE_MS;
    await carParks.fetch(all, WAIT);
    await expect.poll(async () => (await find('486'))?.id).toBe('486');
  });

  it('a car park whose record cannot be read does not affect other car parks', async () => {
    upstream.facilities.set('1', { facility_id: 'x' });
    now += 11 * MINUTE_MS;
    report('486');
    const { carParks: found } = await carParks.fetch(all, WAIT);
    expect(found.map(({ id, reportedAt }) => [id, reportedAt])).toEqual([
      ['1', START],
      ['486', now],
    ]);
  });

  it('a key without the product is an error of its own once no reading is current', async () => {
    upstream.failure = 'not enabled';
    now += 5 * MINUTE_MS;
    expect(await find('486')).toMatchObject({ spacesFree: 180 });
    now += 11 * MINUTE_MS;
    await expect(carParks.fetch(all, WAIT)).rejects.toMatchObject({ code: 'CARPARKS_NOT_ENABLED', statusCode: 503 });
    upstream.failure = null;
    now += 20 * MINUTE_MS;
    report('486');
    expect(await find('486')).toMatchObject({ spacesFree: 180 });
  });
});

it('without any response, car parks are unavailable: not enabled if the key is refused', async () => {
  upstream.failure = 'away';
  await expect(carParks.fetch(all, WAIT)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  await expect(carParks.get('486', WAIT)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(upstream.calls).toEqual(['list']);
  upstream.failure = 'not enabled';
  now += MINUTE_MS;
  await expect(carParks.fetch(all, WAIT)).rejects.toMatchObject({ code: 'CARPARKS_NOT_ENABLED' });
});

it('a silent upstream does not delay a result beyond its `waitMs`', async () => {
  const brief = { waitMs: 1 };
  upstream.isSilent = true;
  await expect(carParks.fetch(all, brief)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  ({ carParks } = fakeCarParks({ now: () => now, upstream }));
  upstream.isSilent = false;
  report('486');
  await carParks.fetch(all, WAIT);
  upstream.isSilent = true;
  now += 5 * MINUTE_MS;
  const found = await carParks.fetch(all, brief);
  expect(found.carParks).toMatchObject([{ id: '486', spacesFree: 180 }]);
  expect(found.freshness.freshUntil - now).toBeLessThan(5000);
});

describe('what is stored', () => {
  it('a restart keeps positions, readings and the count of calls, and a broken file is ignored', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'car-parks-'));
    const path = join(folder, 'data/car-parks.json');
    const open = () => fakeCarParks({ now: () => now, upstream, store: fileCarParks(path), callsADay: 2000 }).carParks;
    report('486');
    const first = open();
    await first.fetch(all, WAIT);
    const before = first.status();
    await first.close();
    upstream.failure = 'away';
    now += MINUTE_MS;
    const second = open();
    expect((await second.fetch(all, WAIT)).carParks).toMatchObject([{ id: '486', spacesFree: 180, reportedAt: START }]);
    expect(second.status().callsLeft).toBe(before.callsLeft);
    expect(JSON.parse(await readFile(path, 'utf8'))).toHaveProperty('records.486');
    await second.close();
    await writeFile(path, '{"records": 5');
    await expect(open().fetch(all, WAIT)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await rm(folder, { recursive: true });
  });
});
