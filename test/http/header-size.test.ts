import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { PLAN_NAMES } from '#src/access/plan.ts';
import { issueTestKey, openTestAccess } from '#test/support/access.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { json } from '#test/support/upstream.ts';
import { openConnection } from './socket.ts';

const NOW = '2026-04-15T06:00:10Z';
const LEAVES = ['2026-04-15T06:10:00Z', '2026-04-15T08:20:30Z'];
const { store } = await openTestAccess(new Date(NOW));
const { app } = await startProtectedApp({ now: NOW, response: json(departureMonitor(...LEAVES)), store });
await app.listen({ host: '127.0.0.1', port: 0 });
afterAll(() => app.close());

/** Those of limited plans have what is left of the day, in the names of two conventions. */
const MAX_BYTES = { pro: 560, developer: 730, free: 720 };

it.each(PLAN_NAMES)('the header fields of a cached board stay small with a %s key', async (plan) => {
  const key = await issueTestKey(store, { plan, now: new Date(NOW) });
  const url = '/v1/departures?stop=200060';
  await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
  const connection = await openConnection((app.server.address() as AddressInfo).port);
  connection.write(`GET ${url} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  const received = await connection.until(/\r\n\r\n/);
  connection.socket.destroy();
  const fields = received.slice(received.indexOf('\r\n') + 2, received.indexOf('\r\n\r\n') + 2);
  expect(fields).toContain('cache-status: transit; hit');
  expect(fields.length).toBeLessThanOrEqual(MAX_BYTES[plan]);
});
