import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tripsResponse } from '#src/operations/trips/response.ts';
import { buildSandboxApp, type TestApp } from '#test/support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await buildSandboxApp('2026-11-20T02:00:20Z');
});
afterAll(() => app.close());

/** Journeys from Wynyard, where the lift to the trains is out of service and that to the light rail is not. */
async function plan(more: string) {
  const response = await app.inject(`/v1/trips?from=200080&to=200060&path=none${more}`);
  expect(response.statusCode, response.body).toBe(200);
  return tripsResponse.parse(response.json()).journeys;
}

describe('journeys while a lift is out of service', () => {
  it('`lifts_out` is null until the alerts are known, and absent without `wheelchair=true`', async () => {
    expect((await plan('&wheelchair=true')).map((one) => one.lifts_out)).toEqual(Array(5).fill(null));
    expect((await plan('')).flatMap((one) => Object.keys(one))).not.toContain('lifts_out');
  });

  it('with `wheelchair=true` a journey without a lift comes first and the others name the alert', async () => {
    const { alerts } = (await app.inject('/v1/alerts?category=lifts_escalators&stop=200080')).json();
    expect(alerts).toEqual([expect.objectContaining({ kind: 'facility', cause: 'lift_failure' })]);
    const [first, ...others] = await plan('&wheelchair=true');
    expect([first?.legs[0]?.mode, first?.lifts_out]).toEqual(['lightrail', []]);
    expect(others.length).toBe(4);
    for (const { legs, lifts_out: lifts } of others) {
      const [{ mode, origin }] = legs as [(typeof legs)[number]];
      expect(mode).toBe('train');
      expect(lifts).toEqual([{ stop_id: origin.stop_id, name: origin.name, alert_id: alerts[0].id }]);
    }
  });

  it('`lifts_out` is the same with `include=carriages`', async () => {
    const lifts = (await plan('&wheelchair=true')).map((one) => one.lifts_out);
    expect((await plan('&wheelchair=true&include=carriages')).map((one) => one.lifts_out)).toEqual(lifts);
    expect(lifts).toContainEqual([]);
  });
});
