import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRedis } from '#src/core/redis/shared-redis.ts';
import { startRedis, type TestRedis } from '#test/support/redis.ts';

const log = { info() {}, warn() {} };
let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

it('a new instance counts the other instances, but none that has left', async () => {
  const first = await openRedis([redis.url], log);
  expect(first.instances()).toBe(1);
  const second = await openRedis([redis.url], log);
  expect(second.instances()).toBe(2);
  first.close();
  const third = await openRedis([redis.url], log);
  expect(third.instances()).toBe(2);
  second.close();
  third.close();
});

it('an instance keeps its count of instances while Redis is unreachable', async () => {
  const rooms = [await openRedis([redis.url], log), await openRedis([redis.url], log)];
  await redis.kill();
  await expect(rooms[1]?.sendTo('key', (connection) => connection.exists('key'))).rejects.toThrow();
  expect(rooms[1]?.presence.isUnreachable('key')).toBe(true);
  expect(rooms[1]?.instances()).toBe(2);
  for (const room of rooms) room.close();
  await redis.restart();
});
