import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toApiError } from '#src/errors/to-api-error.ts';
import { goodAnswerTo } from '#test/contract/operations.ts';
import { buildTestApp } from '#test/support/app.ts';
import { describedOperations } from '#test/support/operations.ts';
import { PROTOTYPE_NAMES } from '#test/support/prototype-names.ts';
import { stopsOfTwoLines } from '#test/support/two-lines.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';

/** A Wednesday, 16:24 in Sydney. */
const NOW = '2026-04-15T06:24:00Z';
const docsUrl = 'https://example.test/docs';

describe.each(PROTOTYPE_NAMES)('the name %s', (name) => {
  let app: FastifyInstance;
  let upstream: TestUpstream;

  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answerWith(name, goodAnswerTo(request.url)));
    });
    app = await buildTestApp({ upstream: upstream.url, now: NOW, stops: stopsOfTwoLines() });
  });
  afterAll(async () => {
    await app.close();
    await upstream.close();
  });

  it('is a value like any other in every parameter', async () => {
    for (const { path, query } of describedOperations(docsUrl)) {
      for (const parameter of Object.keys(query.shape)) {
        const url = path.replace(`{${parameter}}`, name).replace(/{\w+}/g, '1');
        const { statusCode } = await app.inject({
          url,
          query: path.includes(`{${parameter}}`) ? {} : { [parameter]: name },
        });
        expect([`${url}?${parameter}`, statusCode < 500 || statusCode === 503]).toEqual([`${url}?${parameter}`, true]);
      }
    }
  });

  it.each(['/v1/departures?stop=200020', '/v1/trips?from=202091&to=G2095102', '/v1/nearby?lat=-33.8613&lng=151.2108'])(
    'is an unknown parameter of %s',
    async (url) => {
      const response = await app.inject({ url: `${url}&${name}=1&${name}[]=2` });
      expect(response.statusCode).toBe(400);
      expect(response.json().error.message).toContain(`Unknown parameter \`${name}`);
    },
  );

  it('may be the name of every line, stop and headsign upstream', async () => {
    const { departures } = (await app.inject('/v1/departures?stop=200020&include=ids,colors')).json();
    expect(departures.length).toBeGreaterThan(0);
    for (const { route } of departures) expect(route).toBe(name);
    const { journeys } = (await app.inject('/v1/trips?from=202091&to=G2095102&include=ids,colors')).json();
    expect(JSON.stringify(journeys)).toContain(`"route":"${name}"`);
  });

  it('may be the code of an error', () => {
    expect(toApiError({ code: name, message: '' })).toMatchObject({ code: 'INTERNAL_ERROR' });
  });
});

/** A response in which every line has this name. */
function answerWith(name: string, text: string): string {
  const named = ['number', 'disassembledName', 'name', 'description', 'symbol'];
  const answer: unknown = JSON.parse(text, (key, value) => {
    if (key !== 'transportation' || value === null) return value;
    const lines = Object.entries(value).map(([field, held]) => [field, named.includes(field) ? name : held]);
    return Object.fromEntries(lines);
  });
  return JSON.stringify(answer);
}
