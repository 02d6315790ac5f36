import { expect, it } from 'vitest';
import { buildSandboxApp } from '#test/support/app.ts';

it('an alert requested by ID equals the one in the list, even before it is in force, and an unknown ID is 404', async () => {
  const app = await buildSandboxApp('2026-11-20T02:00:20Z');
  const get = async (url: string) => (await app.inject(url)).json();
  const { alerts } = await get('/v1/alerts?limit=300');
  expect(alerts.length).toBeGreaterThan(5);
  for (const alert of alerts.slice(0, 5)) expect(await get(`/v1/alerts/${alert.id}`)).toEqual(alert);
  const later = (await get('/v1/alerts?limit=300&at=2026-11-22')).alerts;
  const known = new Set(alerts.map(({ id }: { id: string }) => id));
  const coming = later.find(({ id }: { id: string }) => !known.has(id));
  expect(await get(`/v1/alerts/${coming.id}`)).toEqual(coming);
  const unknown = await app.inject('/v1/alerts/nP3k9QzVx0');
  expect([unknown.statusCode, unknown.json().error.code]).toEqual([404, 'ALERT_NOT_FOUND']);
  await app.close();
});
