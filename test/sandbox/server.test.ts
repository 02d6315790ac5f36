import { expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '#sandbox/server.ts';
import { API_KEY, sandboxAt, send } from './requests.ts';

const NOW = '2026-11-17T21:00:00Z';
const FINDER = { type_sf: 'any', name_sf: '200100' };

it('the sandbox answers 401 without the right key on every endpoint', async () => {
  const sandbox = await sandboxAt(NOW);
  for (const authorization of [undefined, 'apikey wrong', API_KEY, `Apikey ${API_KEY}`]) {
    const response = await send(
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

it('the sandbox answers 404 on other paths and methods', async () => {
  const sandbox = await sandboxAt(NOW);
  const headers = { authorization: `apikey ${API_KEY}` };
  expect((await send(sandbox, 'add_infos', {})).status).toBe(404);
  expect((await send(sandbox, 'toString', {})).status).toBe(404);
  expect((await send(sandbox, 'trip', {}, { method: 'POST', headers })).status).toBe(404);
});

it('the sandbox returns JSON only with outputFormat=rapidJSON', async () => {
  const sandbox = await sandboxAt(NOW);
  const response = await send(sandbox, 'trip', { outputFormat: 'XML' });
  expect(response.headers.get('content-type')).toMatch(/xml/);
});

it('the sandbox compresses responses only for clients that accept gzip', async () => {
  const sandbox = await sandboxAt(NOW);
  const encoding = async (accepted: string) => {
    const headers = { authorization: `apikey ${API_KEY}`, 'accept-encoding': accepted };
    return (await send(sandbox, 'stop_finder', FINDER, { headers })).headers.get('content-encoding');
  };
  expect(await encoding('gzip, br')).toBe('gzip');
  expect(await encoding('identity')).toBeNull();
  expect(await encoding('br')).toBeNull();
});

it('an exception in the sandbox becomes a 500', async () => {
  const now = () => {
    throw new Error('no clock');
  };
  const sandbox = await startSandbox({ apiKey: API_KEY, now });
  onTestFinished(() => sandbox.close());
  const response = await send(sandbox, 'stop_finder', FINDER);
  expect([response.status, await response.json()]).toEqual([500, { code: 500, message: 'no clock' }]);
});

it('the sandbox closes even while a request is unanswered', async () => {
  const sandbox = await sandboxAt(NOW);
  const silent = send(sandbox, 'departure_mon', { name_dm: '99000504' }).catch((error: unknown) => error);
  const slow = send(sandbox, 'stop_finder', { name_sf: 'rehearsal 001' }).catch((error: unknown) => error);
  // The server answers in order of arrival, so it has received the two earlier requests.
  await send(sandbox, 'stop_finder', FINDER);
  await sandbox.close();
  expect(await silent).toBeInstanceOf(Error);
  expect(await slow).toBeInstanceOf(Error);
});
