import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.ts';
import { openRedis, type SharedRedis } from '#src/core/redis/shared-redis.ts';
import { createSharedMeters } from '#src/upstream/protection.ts';
import { startRedis, type TestRedis } from '#test/support/redis.ts';

const HOUR_MS = 3_600_000;
const silent = { info() {}, warn() {} };

let redis: TestRedis;
let admin: Redis;
const open: SharedRedis[] = [];
beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
});
afterAll(async () => {
  for (const room of open) room.close();
  admin.disconnect();
  await redis.stop();
});

async function join(now: () => number): Promise<SharedRedis> {
  const room = await openRedis([redis.url], silent, { now });
  open.push(room);
  return room;
}

it('a wrong clock is corrected by the clock of Redis, and a correct one is left alone', async () => {
  expect((await join(Date.now)).clockAheadMs()).toBe(0);
  for (const hours of [-30, -1, 1, 30]) {
    const room = await join(() => Date.now() + hours * HOUR_MS);
    expect(Math.abs(room.clockAheadMs() + hours * HOUR_MS)).toBeLessThan(1500);
  }
});

it.each([1, 23, 47])('an instance whose clock is %s hours ahead uses only calls of the present day', async (hours) => {
  await admin.flushall();
  const now = () => Date.now() + hours * HOUR_MS;
  const room = await join(now);
  const limits = { rps: 5, dailyBudget: 60_000 };
  const clock = { ...systemClock, now };
  const options = { apiKeys: ['key'], limits };
  const [ahead] = createSharedMeters(room, { ...options, clock });
  const before = new Date().getUTCDate();
  expect((await ahead?.spend('high'))?.isTaken).toBe(true);
  const names = await admin.keys('*:spent:*');
  const spentByOneAhead = Number(await admin.get(names[0] ?? ''));

  await admin.flushall();
  const [right] = createSharedMeters(await join(Date.now), options);
  await right?.spend('high');
  const [name = ''] = await admin.keys('*:spent:*');
  if (new Date().getUTCDate() !== before) return;
  expect(names).toEqual([name]);
  expect(Math.abs(Number(await admin.get(name)) - spentByOneAhead)).toBeLessThan(20);
});
