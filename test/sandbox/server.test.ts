import { expect, it } from 'vitest';
import type { Fault } from '#src/sandbox/fault.ts';
import { API_KEY, ask, sandboxAt } from './asking.ts';

const NOW = '2026-11-17T21:00:00Z';
const FINDER = { type_sf: 'any', name_sf: '200100' };

async function askWith(fault: Fault, init: RequestInit = {}) {
  const sandbox = await sandboxAt(NOW, { fault: () => fault });
  return ask(sandbox, 'stop_finder', FINDER, init);
}

const timeout = (ms: number) => ({ headers: { authorization: `apikey ${API_KEY}` }, signal: AbortSignal.timeout(ms) });

it('without the right key the answer is 401, whatever the endpoint', async () => {
  const sandbox = await sandboxAt(NOW);
  for (const authorization of [undefined, 'apikey wrong', API_KEY, `Apikey ${API_KEY}`]) {
    const response = await ask(
      sandbox,
      'trip',
      {},
      authorization === undefined ? { headers: {} } : { headers: { authorization } },
    );
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({
      ErrorDetails: {
        TransactionId: expect.any(String),
        ErrorDateTime: expect.stringMatching(/^2026-11-17T21:00:00/),
        Message: 'The calling application is unauthenticated.',
        RequestedUrl: '/v1/tp/trip',
        RequestMethod: 'GET',
      },
    });
  }
});

it('other paths and methods are 404', async () => {
  const sandbox = await sandboxAt(NOW);
  const headers = { authorization: `apikey ${API_KEY}` };
  expect((await ask(sandbox, 'add_infos', {})).status).toBe(404);
  expect((await ask(sandbox, 'toString', {})).status).toBe(404);
  expect((await ask(sandbox, 'trip', {}, { method: 'POST', headers })).status).toBe(404);
});

it('the answer is JSON only with outputFormat=rapidJSON', async () => {
  const sandbox = await sandboxAt(NOW);
  const response = await ask(sandbox, 'trip', { outputFormat: 'XML' });
  expect(response.headers.get('content-type')).toMatch(/xml/);
});

it('answers are compressed only for clients that accept gzip', async () => {
  const sandbox = await sandboxAt(NOW);
  const encoding = async (accepted: string) => {
    const headers = { authorization: `apikey ${API_KEY}`, 'accept-encoding': accepted };
    return (await ask(sandbox, 'stop_finder', FINDER, { headers })).headers.get('content-encoding');
  };
  expect(await encoding('gzip, br')).toBe('gzip');
  expect(await encoding('identity')).toBeNull();
  expect(await encoding('br')).toBeNull();
});

it('an exception of the fault chooser becomes a 500', async () => {
  const sandbox = await sandboxAt(NOW, {
    fault: () => {
      throw new Error('chosen badly');
    },
  });
  const response = await ask(sandbox, 'stop_finder', FINDER);
  expect([response.status, await response.json()]).toEqual([500, { code: 500, message: 'chosen badly' }]);
});

it('close ends although a connection is open', async () => {
  const sandbox = await sandboxAt(NOW, { fault: () => ({ kind: 'hang-before-headers' }) });
  const hanging = ask(sandbox, 'stop_finder', FINDER).catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await sandbox.close();
  expect(await hanging).toBeInstanceOf(Error);
});

it('the fault chooser sees endpoint, query and a count for each endpoint; a request cannot choose a fault', async () => {
  const seen: string[] = [];
  const sandbox = await sandboxAt(NOW, {
    fault: ({ endpoint, query, count }) => {
      seen.push(`${endpoint} ${query.get('name_sf')} ${count}`);
      return endpoint === 'stop_finder' && count === 2 ? { kind: 'empty' } : undefined;
    },
  });
  const bodies = [];
  for (let i = 0; i < 3; i++)
    bodies.push(await (await ask(sandbox, 'stop_finder', { ...FINDER, fault: 'reset' })).text());
  await ask(sandbox, 'coord', FINDER);
  expect(seen).toEqual(['stop_finder 200100 1', 'stop_finder 200100 2', 'stop_finder 200100 3', 'coord 200100 1']);
  expect(bodies.map((body) => body.length > 0)).toEqual([true, false, true]);
});

it('slow: the true answer, after the delay', async () => {
  const before = performance.now();
  const response = await askWith({ kind: 'slow', delayMs: 120 });
  expect(await response.json()).toHaveProperty('locations');
  expect(performance.now() - before).toBeGreaterThanOrEqual(115);
});

it('hang before headers: no response', async () => {
  await expect(askWith({ kind: 'hang-before-headers' }, timeout(150))).rejects.toThrow(/timeout/i);
});

it('hang in the body: headers and half of the body, then silence', async () => {
  const response = await askWith({ kind: 'hang-in-body' }, timeout(300));
  expect(response.status).toBe(200);
  const { value } = (await response.body?.getReader().read()) ?? {};
  expect(value?.length).toBeGreaterThan(0);
  expect(value?.length).toBeLessThan(Number(response.headers.get('content-length')));
  await expect(askWith({ kind: 'hang-in-body' }, timeout(150)).then((again) => again.text())).rejects.toThrow(
    /timeout/i,
  );
});

it('reset: the connection is reset', async () => {
  await expect(askWith({ kind: 'reset' })).rejects.toThrow('fetch failed');
});

it('drip: a byte a second', async () => {
  const response = await askWith({ kind: 'drip' }, timeout(1500));
  const reader = response.body?.getReader();
  expect((await reader?.read())?.value).toHaveLength(1);
  expect((await reader?.read())?.value).toHaveLength(1);
});

it('answer: any status, body and headers', async () => {
  const headers = { 'x-error-detail': 'Account Over Rate Limit', 'content-type': 'text/html' };
  const response = await askWith({ kind: 'respond', status: 403, body: '<h1>no</h1>', headers });
  expect(response.status).toBe(403);
  expect(response.headers.get('x-error-detail')).toBe('Account Over Rate Limit');
  expect(await response.text()).toBe('<h1>no</h1>');
});

it('truncated: half of the JSON with a matching length', async () => {
  const response = await askWith({ kind: 'truncated' });
  expect(response.status).toBe(200);
  await expect(response.json()).rejects.toThrow(SyntaxError);
});

it('empty: 200 and no body', async () => {
  const response = await askWith({ kind: 'empty' });
  expect([response.status, await response.text()]).toEqual([200, '']);
});

it('other JSON: 200 and the given JSON', async () => {
  const response = await askWith({ kind: 'other-json', json: ['what?'] });
  expect([response.status, await response.json()]).toEqual([200, ['what?']]);
});
