import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { connectRedis, whenReady, writeTogether } from '#src/core/redis/connection.ts';
import { startRedis, type TestRedis } from '#test/support/redis.ts';

let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

it('Redis commands of one event-loop turn are sent in one write', async () => {
  const connection = connectRedis([redis.url], 'fail-fast');
  await whenReady(connection, 2000);
  if (!('stream' in connection)) throw new Error('not a single server');
  const [together, alone] = [vi.spyOn(connection.stream, '_writev'), vi.spyOn(connection.stream, '_write')];
  const send = (value: number) => {
    writeTogether(connection);
    return connection.rpush('list', value);
  };

  expect(await Promise.all([send(1), send(2), send(3)])).toEqual([1, 2, 3]);
  expect([together.mock.calls.length, alone.mock.calls.length]).toEqual([1, 0]);

  expect(await send(4)).toBe(4);
  expect([together.mock.calls.length, alone.mock.calls.length]).toEqual([1, 1]);
  connection.disconnect();
});

it('what is sent at the end of a turn leaves in the same write as what was sent before', async () => {
  const connection = connectRedis([redis.url], 'fail-fast');
  await whenReady(connection, 2000);
  if (!('stream' in connection)) throw new Error('not a single server');
  const [together, alone] = [vi.spyOn(connection.stream, '_writev'), vi.spyOn(connection.stream, '_write')];
  const sent: Promise<number>[] = [];
  const send = (value: number) => {
    writeTogether(connection);
    sent.push(connection.rpush('other', value));
  };
  send(1);
  await new Promise<void>((resolve) => {
    writeTogether(connection, () => {
      send(2);
      resolve();
    });
  });
  expect(await Promise.all(sent)).toEqual([1, 2]);
  expect([together.mock.calls.length, alone.mock.calls.length]).toEqual([1, 0]);
  connection.disconnect();
});
