import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { z } from 'zod';
import { ERROR_TABLE, type ErrorCode } from '#src/errors/api-error.ts';
import type { LegBody, tripsResponse } from '#src/operations/trips/response.ts';
import type { Operation } from './operations.ts';

const DOCS_URL = 'https://example.test/docs';

/** Expects exactly the error object, with a code that belongs to the status. */
export function expectErrorObject(response: LightMyRequestResponse): void {
  const body = response.json();
  const code = body?.error?.code as ErrorCode;
  expect(body).toStrictEqual({
    error: { code, message: expect.stringMatching(/\S/), docs: `${DOCS_URL}/errors/${code}` },
  });
  expect(ERROR_TABLE[code]?.status).toBe(response.statusCode);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
}

/** Expects the response of the schema or the error object, and never a 500. */
export function expectContract(response: LightMyRequestResponse, operation: Operation): void {
  expect(response.headers['x-request-id']).toMatch(/\S/);
  if (response.statusCode === 200) expectAnswer(response, operation);
  else expectErrorObject(response);
}

function expectAnswer(response: LightMyRequestResponse, operation: Operation): void {
  const read = operation.schema.safeParse(response.json());
  expect(read.error?.issues ?? [], response.body.slice(0, 2000)).toStrictEqual([]);
  expectRequestedFields(response, operation);
  if (operation.name === 'trips') expectJoinedJourneys(response, read.data as z.infer<typeof tripsResponse>);
}

/** Expects each optional field in every record when requested, and in none otherwise. */
function expectRequestedFields({ body, raw }: LightMyRequestResponse, { name }: Operation): void {
  const sent = new URL(raw.req.url ?? '', 'http://service.test').searchParams;
  const count = (field: string) => body.split(`"${field}":`).length - 1;
  const records = { departures: count('scheduled_at'), trips: count('is_live'), nearby: 0, 'stop search': 0 }[name];
  const rides = { departures: count('scheduled_at'), trips: count('direction'), nearby: 0, 'stop search': 0 }[name];
  const included = sent
    .getAll('include')
    .join()
    .split(',')
    .map((word) => word.trim());
  const hasIds = included.includes('ids');
  const colored = { departures: rides, trips: count('mode'), nearby: 0, 'stop search': 0 }[name];
  expect(count('cancelled')).toBe(sent.get('cancelled') === 'include' ? records : 0);
  expect([count('trip_id'), count('line_id')]).toEqual(Array(2).fill(hasIds ? rides : 0));
  expect([count('color'), count('text_color')]).toEqual(Array(2).fill(included.includes('colors') ? colored : 0));
  const hasAlertIds = hasIds || included.includes('alert_texts');
  expect(count('alert_ids')).toBe(hasAlertIds ? colored : 0);
  expect(count('alert_texts')).toBe(included.includes('alert_texts') ? 1 : 0);
  const hasAccess = included.includes('access');
  expect([count('vehicle_accessible'), count('bikes_allowed')]).toEqual(Array(2).fill(hasAccess ? rides : 0));
  expect(count('stop_accessible')).toBe(hasAccess ? rides * (name === 'trips' ? 2 : 1) : 0);
  expect(count('parent_stop_id')).toBe(hasIds && name === 'trips' ? 2 * rides : 0);
  expect(count('children')).toBe(hasIds && name === 'nearby' ? count('distance_metres') : 0);
}

/** Checks the legs of journeys for what a schema cannot express. */
function expectJoinedJourneys({ raw }: LightMyRequestResponse, { journeys }: z.infer<typeof tripsResponse>): void {
  const isWhole = !/[?&]path=(polyline|none)/.test(raw.req.url ?? '');
  for (const { legs, changes } of journeys) {
    const rides = legs.filter(({ mode }) => mode !== 'walk');
    expect(changes).toBe(Math.max(0, rides.length - 1));
    for (const [index, leg] of legs.entries()) {
      const before = legs[index - 1];
      if (before) expect(leg.origin.stop_id).toBe(before.destination.stop_id);
      if (isWhole) expect(leg.path.length).toBeGreaterThanOrEqual(2);
      if (leg.mode === 'walk') expectWalk(leg);
      else expect(leg.distance_metres).toBeNull();
    }
  }
}

function expectWalk(leg: LegBody): void {
  expect(leg).toMatchObject({
    route: null,
    line_name: null,
    direction: null,
    stops: 0,
    is_live: false,
  });
}
