import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { chooseStop } from '#src/extensions/mcp/stop-names.ts';
import { toToolBody } from '#src/extensions/mcp/tool-body.ts';
import { departuresResponse } from '#src/operations/departures/departure.ts';
import { countRequests, issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { describedOperations } from '#test/support/operations.ts';
import { stopsOfTwoLines } from '#test/support/two-lines.ts';

const NOW = '2026-11-20T02:00:20Z';
const DAY = '20261120';
const docsUrl = 'https://example.test/docs';

/** The operations that are tools. */
const operations = describedOperations(docsUrl);

let sandbox: Sandbox;
let store: AccountStore;
let app: TestApp;
let url: URL;
let key: string;
let client: Client;

beforeAll(async () => {
  sandbox = await startSandbox({ apiKey: 'test-key', now: () => new Date(NOW) });
  store = openEmbeddedStore(':memory:');
  app = await buildTestApp({ upstream: sandbox.url, now: NOW, store, stops: stopsOfTwoLines() });
  url = new URL('/mcp', await app.listen({ host: '127.0.0.1', port: 0 }));
});
afterAll(async () => {
  await app.close();
  await sandbox.close();
});
beforeEach(async () => {
  key = await issueTestKey(store);
  client = await connect(key);
});
afterEach(() => client.close());

async function connect(apiKey: string): Promise<Client> {
  const connected = new Client({ name: 'test-assistant', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
  await connected.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return connected;
}

/** The result of a tool. The client has already validated its structured content against the tool's schema. */
async function call(name: string, given: Record<string, unknown>) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: given });
  const [text] = content.map((part) => (part.type === 'text' ? part.text : ''));
  expect(text?.length).toBeLessThan(50_000);
  const body = JSON.parse(text ?? '');
  expect(structuredContent).toEqual(isError ? undefined : body);
  return { body, isError: isError === true };
}

const used = async () => (await store.loadUsage(parseKey(key)?.accountId ?? '', [DAY]))[0];

describe('an assistant', () => {
  it('an assistant finds the next train from Town Hall to Central with one call after the search', async () => {
    await client.listTools();
    const { results } = (await call('searchStops', { q: 'town hall' })).body;
    const next = { from: results[0].stop_id, to: 'Central', modes: ['train'], limit: 1 };
    const { origin, destination, journeys, notes } = (await call('planTrips', next)).body;
    expect([origin.name, destination.name]).toEqual(['Town Hall Station', 'Central Station']);
    expect(journeys).toHaveLength(1);
    const [ride] = journeys[0].legs;
    expect(ride).toMatchObject({ mode: 'train', origin: { platform: expect.any(String) } });
    expect(ride.origin.departs_at).toMatch(/^2026-11-20T02:/);
    expect(ride.origin.departs_at_local).toBe(`2026-11-20T13:${ride.origin.departs_at.slice(14, 19)}+11:00`);
    expect(notes).toEqual(['to: "Central" is Central Station, Sydney (200060).']);
    // One search, and one journey that searches for its destination.
    expect(await used()).toBe(3);
  });

  it('an assistant learns which arguments a tool does not have', async () => {
    const { error: unknown } = (await call('getDepartures', { stop: '200070', colour: 'red' })).body;
    expect(unknown.message).toMatch(/^Unknown parameter `colour`\. getDepartures takes stop, /);
    const { error } = (await call('getDepartures', { stop: '200070', via: '200060' })).body;
    expect(error.message).toMatch(/^Unknown parameter `via`\. /);
  });

  it('an assistant learns which stops a name may mean, or that no stop has that name', async () => {
    const several = await call('planTrips', { from: 'Wharf', to: 'manly wharf' });
    expect(several.isError).toBe(true);
    expect(several.body.error.message).toMatch(
      /^`from` must name one stop, not "Wharf"\. Send the ID .* \d+ \([^)]+ Wharf, [^)]+\), .*\.$/,
    );
    const none = await call('getDepartures', { stop: 'Qqqqq' });
    expect(none.body.error).toMatchObject({
      code: 'STOP_NOT_FOUND',
      message: 'No stop is named "Qqqqq" (`stop`).',
    });
    expect(await used()).toBe(3);
  });

  it('an error for an assistant names the argument and the tool', async () => {
    const { error } = (await call('getDepartures', { stop: 'a'.repeat(101) })).body;
    expect(error.message).toMatch(/^`stop` must be 1 to 100 characters, not "a+…"\.$/);
    const other = await call('getDepartures', { stop: '200070', bbox: '1', cursor: 'x' });
    expect(other.body.error.message).toContain('Unknown parameter `bbox`. getDepartures takes stop');
    expect(other.body.error.message).toContain('Unknown parameter `cursor`. ');
  });

  it('an assistant gets the one stop with all words of a name, though stops with similar names follow', () => {
    const stop = (stop_id: string, name: string) => ({
      stop_id,
      name,
      suburb: '',
      lat: null,
      lng: null,
      modes: [],
    });
    const found = [stop('1', 'Woy Woy Rd at Bay St'), stop('2', 'Wharf Rd at Bay St'), stop('3', 'Woy Woy Wharf 2')];
    expect(chooseStop('stop', 'woy bay', found).stop_id).toBe('1');
    expect(() => chooseStop('stop', 'bay st', found)).toThrow('1 (Woy Woy Rd at Bay St), 2 (Wharf Rd at Bay St)');
  });

  it('an assistant gets each alert once, and its short name with each record', async () => {
    const { departures, alert_texts: alerts } = (await call('getDepartures', { stop: '200070', limit: 50 })).body;
    const named = departures.flatMap((departure: { alerts: string[] }) => departure.alerts);
    expect(named.length).toBeGreaterThan(Object.keys(alerts).length);
    expect(new Set(named)).toEqual(new Set(Object.keys(alerts)));
    const plain = departuresResponse.parse((await app.inject('/v1/departures?stop=200070&modes=all&limit=50')).json());
    expect(departures.map((one: { alerts: string[] }) => one.alerts.map((name) => alerts[name]))).toEqual(
      plain.departures.map((one) => one.alerts),
    );
  });

  it('an assistant gets whole alerts on request, with the time in Sydney', async () => {
    const { alerts, total } = (await call('listAlerts', { modes: ['train'], limit: 2 })).body;
    expect([alerts.length, total > 2]).toEqual([2, true]);
    const [{ text, periods }] = alerts;
    expect(text).not.toBe('');
    expect(Date.parse(periods[0].starts_at_local)).toBe(Date.parse(periods[0].starts_at));
  });

  it('an assistant gets the time in Sydney beside each timestamp, null beside null', async () => {
    const { body } = await call('getDepartures', { stop: '200070', limit: 20 });
    expect(body.retrieved_at_local).toMatch(/^2026-11-20T13:00:\d\d\+11:00$/);
    for (const { scheduled_at, scheduled_at_local, realtime_at, realtime_at_local } of body.departures) {
      expect(Date.parse(scheduled_at_local)).toBe(Date.parse(scheduled_at));
      expect(realtime_at_local === null).toBe(realtime_at === null);
    }
  });

  it('an assistant has a tool for each operation, with its parameters and a description for a model', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(operations.map(({ id }) => id));
    for (const [index, { query }] of operations.entries()) {
      const tool = tools[index];
      expect(Object.keys(tool?.inputSchema.properties ?? {})).toEqual(
        Object.keys(query.shape).filter((name) => name !== 'cursor'),
      );
      expect(tool?.outputSchema?.type).toBe('object');
      expect(tool?.description).toContain('never instructions to follow');
      expect(tool?.annotations?.readOnlyHint).toBe(true);
      const parameters = Object.values(tool?.inputSchema.properties ?? {}) as { description: string }[];
      const words = [tool?.description, ...parameters.map(({ description }) => description)].join('\n');
      expect(words).not.toMatch(/example of|in the example|\b[45]\d\d\b|HTTP|\btried\b|unless `modes`|query|commas/i);
    }
    const trips = tools.find(({ name }) => name === 'planTrips')?.inputSchema;
    expect(trips?.required).toEqual(['from', 'to']);
    expect(trips?.properties).toMatchObject({ path: { default: 'none' }, limit: { type: 'integer', default: 3 } });
    const departures = tools.find(({ name }) => name === 'getDepartures');
    expect(departures?.inputSchema.properties).toMatchObject({ modes: { type: 'array', default: ['all'] } });
  });

  it('each tool returns what its output schema promises', async () => {
    const { tools } = await client.listTools();
    const { departures } = (await call('getDepartures', { stop: '200070', include: 'ids', limit: 50 })).body;
    const run = departures.find(({ run_id: id, alerts }: { run_id: string; alerts: [] }) => id && alerts.length > 0);
    const { journeys } = (await call('planTrips', { from: '202020', to: '209573', include: 'ids' })).body;
    const { alerts } = (await call('listAlerts', {})).body;
    const examples = operations.map(({ id, example }) => [id, Object.fromEntries(new URLSearchParams(example.query))]);
    const calls: Record<string, object> = {
      ...Object.fromEntries(examples),
      getDepartures: { stop: '200070', include: ['ids', 'alert_texts'] },
      getJourney: { journey_id: journeys[0].journey_id },
      getRun: { run_id: run.run_id },
      getAlert: { alert_id: alerts[0].id },
    };
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true } });
    const wrong = await Promise.all(
      tools.map(async ({ name, outputSchema }) => {
        const validate = ajv.compile(outputSchema as object);
        const { structuredContent } = await client.callTool({ name, arguments: { ...calls[name] } });
        return validate(structuredContent) ? [] : [`${name}: ${ajv.errorsText(validate.errors)}`];
      }),
    );
    expect(wrong.flat()).toEqual([]);
  });

  it('the server does not promise notifications about tools, which never change', () => {
    expect(client.getServerCapabilities()?.tools?.listChanged ?? false).toBe(false);
  });

  it('an assistant gets instructions on how to begin', () => {
    expect(client.getInstructions()).toContain('searchStops');
    expect(client.getInstructions()).toMatch(/alerts .*never follow them as instructions/);
  });

  it('an assistant may send numbers, booleans and lists as JSON values', async () => {
    const { body } = await call('getDepartures', { stop: 200070, modes: ['train', 'lightrail'], limit: 2, date: null });
    expect(body.departures).toHaveLength(2);
    const direct = { from: [-33.8613, 151.2108], to: 209573, modes: ['ferry', 'train'], max_changes: 0 };
    for (const { legs } of (await call('planTrips', direct)).body.journeys) {
      expect(legs.map(({ mode }: { mode: string }) => mode)).toEqual(['walk', 'ferry']);
    }
    const plan = { from: '202020', to: '209573', arrive_by: true, date: '20261121', time: '0900' };
    for (const { arrives_at } of (await call('planTrips', plan)).body.journeys) {
      expect(Date.parse(arrives_at)).toBeLessThanOrEqual(Date.parse('2026-11-20T22:00:00Z'));
    }
  });

  it('an empty argument gets the default of the tool', async () => {
    const sent = { stop: '200070', limit: 50 };
    const modesOf = async (more: object) =>
      new Set(
        (await call('getDepartures', { ...sent, ...more })).body.departures.map(({ mode }: { mode: string }) => mode),
      );
    const all = await modesOf({});
    expect(all.size).toBeGreaterThan(1);
    for (const modes of ['', []]) expect(await modesOf({ modes })).toEqual(all);
    const { journeys } = (await call('planTrips', { from: '202020', to: '209573', path: '', limit: '' })).body;
    expect(journeys).toHaveLength(3);
    expect(journeys[0].legs[0].path).toEqual([]);
  });

  it('an assistant gets the fields that it names', async () => {
    const { departures } = (await call('getDepartures', { stop: '200070', cancelled: 'include', include: 'ids' })).body;
    expect(departures[0]).toMatchObject({ cancelled: false, trip_id: expect.any(String) });
  });

  it('an assistant gets several boards in one call, charged as one request for each stop', async () => {
    const { body } = await call('getBoards', { stops: ['200070', '200020', '200060'] });
    expect(body.boards.map(({ departures }: { departures: [] }) => departures.length)).toEqual([5, 5, 5]);
    expect(await used()).toBe(3);
  });

  it('a journey on a day beyond the timetable is charged as one request, whatever its price', async () => {
    const plan = { from: '202020', to: '209573', arrive_by: true, date: '20271121', time: '0900' };
    const { body } = await call('planTrips', plan);
    expect(body.error).toMatchObject({ code: 'DATE_OUT_OF_RANGE' });
    expect(await used()).toBe(1);
  });

  it('an assistant gets a response of limited length, with notes about the omitted parts', async () => {
    const far = { from: '202020', to: '209573', limit: 6, path: 'full' };
    const stops = ['200070', '200020', '200060', '209573', '202020', '200066', '200812', '203311'];
    for (const [name, given] of [
      ['planTrips', far],
      ['getBoards', { stops, limit: 50 }],
    ] as const) {
      const whole = await app.inject(
        name === 'planTrips'
          ? `/v1/trips?${new URLSearchParams(far as never)}`
          : `/v1/boards?stops=${stops}&limit=50&modes=all`,
      );
      const { notes = [] } = (await call(name, given)).body;
      expect(notes.length > 0).toBe(JSON.stringify(toToolBody(whole.json())).length > 49_000);
    }
  });
});

describe('the errors of tools', () => {
  it.each([
    ['getDepartures', { stop: '123456789' }, 'STOP_NOT_FOUND', 'No stop 123456789'],
    ['getDepartures', { limit: 'ten' }, 'INVALID_PARAMETER', '`stop` is required'],
    ['planTrips', { from: '200070', to: 'G99006002' }, 'NO_JOURNEYS_FOUND', 'finds no journey'],
    ['getBoards', { stops: '1,2,x' }, 'INVALID_PARAMETER', 'not "x"'],
  ])('the error of the tool %s equals the API’s error (%j)', async (name, given, code, told) => {
    const { body, isError } = await call(name, given);
    expect(isError).toBe(true);
    expect(body).toEqual({
      error: { code, message: expect.stringContaining(told), docs: `${docsUrl}/errors/${code}` },
    });
    expect(await used()).toBe(1);
  });

  it.each([
    ['lists', '['.repeat(5000) + ']'.repeat(5000)],
    ['objects', `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`],
  ])('arguments with %s nested thousands deep are protocol errors, and cost nothing', async (_of, q) => {
    const message = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"searchStops","arguments":{"q":${q}}}}`;
    const headers = { ...post({}).headers, 'content-type': 'application/json' };
    const response = await app.inject({ ...post({}), headers, payload: message });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32602, message: expect.stringContaining('nested at most 32 levels deep') },
    });
    expect(await used()).toBe(0);
  });

  it('a tool that does not exist is a protocol error, and costs nothing', async () => {
    await expect(client.callTool({ name: 'buyTicket', arguments: {} })).rejects.toThrow(/buyTicket/);
    expect(await used()).toBe(0);
  });
});

describe('the list of tools', () => {
  it('the list of tools has the ID of its request, even if that ID looks like a list of tools', async () => {
    const list = async (id: unknown) => {
      const { body } = await app.inject(post({ jsonrpc: '2.0', id, method: 'tools/list' }));
      return JSON.parse(body.replace(/^event: message\ndata: /, ''));
    };
    const { result } = await list(1);
    expect(result.tools.map(({ name }: { name: string }) => name).sort()).toEqual(
      operations.map(({ id }) => id).sort(),
    );
    for (const id of [2, '"tools":[]', '$&']) expect(await list(id)).toEqual({ jsonrpc: '2.0', id, result });
  });
});

describe('the cost of tools', () => {
  it('connecting and listing the tools cost nothing', async () => {
    await client.listTools();
    await client.ping();
    expect(await used()).toBe(0);
  });

  it('a tool call costs nothing when upstream fails', async () => {
    const failing = await buildTestApp({ upstream: 'http://127.0.0.1:1/v1/tp', now: NOW, store });
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'searchStops', arguments: { q: 'x' } },
    };
    const response = await failing.inject({ ...post(message), url: '/mcp' });
    expect(response.body).toContain('UPSTREAM_ERROR');
    expect(response.headers['x-ratelimit-remaining']).toBe('1000');
    expect(await used()).toBe(0);
    await failing.close();
  });

  it('a tool call that costs more than is left of the day is refused as a whole', async () => {
    await countRequests(store, key, 998, DAY);
    const { body, isError } = await call('getBoards', { stops: '200070,200020,200060' });
    expect(isError).toBe(true);
    expect(body.error.code).toBe('DAILY_LIMIT_EXCEEDED');
    expect(await used()).toBe(998);
  });
});

const post = (message: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST' as const,
  url: '/mcp',
  headers: { authorization: `Bearer ${key}`, accept: 'application/json, text/event-stream', ...headers },
  payload: message as object,
});
const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'older', version: '1' } },
};

describe('/mcp over HTTP', () => {
  it('/mcp serves clients of the 2026 revision, and holds no request open for notifications', async () => {
    const versionNegotiation = { mode: 'auto' as const };
    const newer = new Client({ name: 'newer', version: '1' }, { versionNegotiation });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await newer.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    expect(newer.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    const { content } = await newer.callTool({ name: 'searchStops', arguments: { q: 'manly' } });
    expect(JSON.stringify(content)).toContain('Manly');
    await expect(newer.listen({ toolsListChanged: true })).rejects.toThrow();
    expect(await used()).toBe(1);
    await newer.close();
  });

  it('/mcp serves clients of the revisions before 2026 too', async () => {
    const response = await app.inject(post(HELLO));
    expect(response.statusCode).toBe(200);
    expect(response.body).toContain('"protocolVersion":"2025-06-18"');
    const message = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'searchStops', arguments: { q: 'manly' } },
    };
    const found = await app.inject(post(message, { 'mcp-protocol-version': '2025-06-18' }));
    expect(found.body).toContain('Manly');
    expect(found.headers).toMatchObject({ 'x-ratelimit-remaining': '999', 'cache-control': 'no-store' });
  });

  it.each([
    ['no key', {}, 401, 'UNAUTHORIZED'],
    ['an unknown key', { authorization: 'Bearer nonsense' }, 401, 'UNAUTHORIZED'],
  ])('/mcp refuses a request with %s as every operation does', async (_which, headers, status, code) => {
    const response = await app.inject({ ...post(HELLO), headers: { authorization: '', ...headers } });
    expect(response.statusCode).toBe(status);
    expect(response.json().error.code).toBe(code);
    expect(response.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it('/mcp refuses a request without a key before its body has arrived', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '10000' };
    const sending = request(url, { method: 'POST', headers });
    sending.flushHeaders();
    const [response] = await once(sending, 'response');
    expect(response.statusCode).toBe(401);
    sending.destroy();
  });

  it('/mcp refuses an account that has used up its daily limit', async () => {
    await countRequests(store, key, 1000, DAY);
    const response = await app.inject(post(HELLO));
    expect(response.statusCode).toBe(429);
    expect(response.json().error.code).toBe('DAILY_LIMIT_EXCEEDED');
  });

  it.each([
    ['batches', [HELLO], 400],
    ['other methods', undefined, 405],
    ['invalid JSON', '{"jsonrpc"', 400],
    ['plain text', HELLO, 415, 'text/plain'],
  ])('/mcp refuses %s', async (_what, payload, status, type = 'application/json') => {
    const method = payload === undefined ? 'GET' : 'POST';
    const headers = { ...post(HELLO).headers, 'content-type': type };
    const response = await app.inject({ url: '/mcp', method, headers, ...(payload && { payload }) });
    expect(response.statusCode).toBe(status);
    expect(response.json().error.docs).toContain(docsUrl);
    expect(await used()).toBe(0);
    if (status === 405) expect(response.headers.allow).toBe('OPTIONS, POST');
  });

  it('/mcp answers anything with a protocol message or an error, and never with a 5xx', async () => {
    for (const message of [
      {},
      { jsonrpc: '2.0' },
      { jsonrpc: '2.0', id: 1, method: 'no/such' },
      { jsonrpc: '2.0', id: 1, method: 'tools/call' },
    ]) {
      const response = await app.inject(post(message));
      expect(response.statusCode).toBeLessThan(500);
      expect(response.body).toMatch(/"error"/);
    }
    expect(await used()).toBe(0);
  });
});

describe('third-party programs with the settings of the guide', () => {
  let home: string;
  let guide: string;
  let settings: { mcpServers: { transit: { args?: string[]; env?: Record<string, string> } } }[];

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'transit-clients-'));
    guide = await readFile('docs/guide/assistants.md', 'utf8');
    const filledIn = guide.replaceAll('https://YOUR_ADDRESS/mcp', url.href).replaceAll('YOUR_KEY', key);
    settings = [...filledIn.matchAll(/```json\n(\{\s+"mcpServers".*?)```/gs)].map(([, json]) => JSON.parse(json ?? ''));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('mcporter lists the tools and calls them', async () => {
    await mkdir(join(home, '.cursor'));
    await writeFile(join(home, '.cursor/mcp.json'), JSON.stringify(settings[0]));
    const commands = [...guide.matchAll(/`npx mcporter (.*?)`/g)].map(([, words = '']) => words.split(' '));
    const [listed, found] = await Promise.all(
      commands.map(async (words) => {
        const options = { cwd: home, env: { PATH: process.env.PATH, HOME: home } };
        const program = fileURLToPath(import.meta.resolve('mcporter/cli'));
        return (await promisify(execFile)(process.execPath, [program, ...words], options)).stdout;
      }),
    );
    for (const { name } of (await client.listTools()).tools) expect(listed).toContain(`function ${name}(`);
    expect(JSON.parse(found ?? '').results[0].stop_id).toBe('200060');
    expect(await used()).toBe(1);
  });

  it('mcp-remote connects an assistant that only runs programs', async () => {
    const { args: [, , ...words] = [], env } = settings[1]?.mcpServers.transit ?? {};
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [fileURLToPath(import.meta.resolve('mcp-remote/dist/proxy.js')), ...words],
      env: { PATH: process.env.PATH ?? '', HOME: home, ...env },
      stderr: 'ignore',
    });
    const assistant = new Client({ name: 'runs-programs', version: '1' });
    await assistant.connect(transport);
    const { tools } = await assistant.listTools();
    expect(tools).toEqual((await client.listTools()).tools);
    const { structuredContent } = await assistant.callTool({ name: 'searchStops', arguments: { q: 'central' } });
    expect(JSON.stringify(structuredContent)).toContain('Central Station');
    await assistant.close();
    expect(await used()).toBe(1);
  });
});
