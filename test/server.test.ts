import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SANDBOX_EMAIL } from '#src/access/store.ts';
import { issueTestKey } from './support/access.ts';
import { ensureProgram } from './support/debian.ts';
import { readMetrics } from './support/metrics.ts';
import { runServerToExit, type ServerProcess, startServerProcess } from './support/process.ts';
import { openTestStore, startRedis } from './support/redis.ts';
import { json, startUpstream, type TestUpstream } from './support/upstream.ts';

let server: ServerProcess | undefined;
let upstream: TestUpstream | undefined;

afterEach(async () => {
  await server?.stop('SIGKILL');
  await upstream?.close();
  server = undefined;
  upstream = undefined;
});

function search({ baseUrl, apiKey }: ServerProcess): Promise<Response> {
  return fetch(`${baseUrl}/v1/stops/search?q=qqqqxxxxqqqq`, { headers: { authorization: `Bearer ${apiKey}` } });
}

/** An upstream that responds when `release` is called. */
async function startHeldUpstream() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  upstream = await startUpstream(async (request, response) => {
    await promise;
    json({ version: '10.6.21.17', locations: [] })(request, response);
  });
  return { url: upstream.url, requests: upstream.requests, release };
}

type OfLine = { line_id: string | null; mode: string; route: string | null };
const messagesOf = ({ log }: ServerProcess) => log.map(({ msg }) => msg).join('\n');

/** Clients that open a connection for each request until they are refused. `outcomes` counts how the requests ended. */
function sendOverNewConnections({ baseUrl }: ServerProcess, count: number) {
  const outcomes = new Map<string, number>();
  const note = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const sendOnce = async () => {
    const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    try {
      note((await text(socket)).slice(9, 12));
    } catch (error) {
      note(String((error as NodeJS.ErrnoException).code));
    }
  };
  const client = async () => {
    while (!outcomes.has('ECONNREFUSED')) await sendOnce();
  };
  return { outcomes, refused: Promise.all(Array.from({ length: count }, client)) };
}

describe('the process without settings', () => {
  let sandbox: ServerProcess;
  beforeAll(async () => {
    sandbox = await startServerProcess();
  });
  afterAll(() => sandbox?.stop('SIGKILL'));

  it('the process serves from the sandbox when nothing is configured, and says so', async () => {
    await expect.poll(() => messagesOf(sandbox)).toMatch(/^try: curl/m);
    const messages = messagesOf(sandbox);
    expect(messages).toMatch(/embedded sandbox makes up every response/);

    const [, authorization = '', printed = ''] = /^try: curl -H 'Authorization: (.*)' '(.*)'$/m.exec(messages) ?? [];
    expect(authorization).toMatch(/^Bearer tis_test_/);
    const response = await fetch(printed.replace('localhost', '127.0.0.1'), { headers: { authorization } });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ stop_name: 'Town Hall Station' });

    const { port } = new URL(sandbox.baseUrl);
    expect(await runServerToExit({ PORT: port })).toEqual({
      code: 1,
      stderr: `Port ${port} is in use, perhaps by another instance of this service. Stop that, or set PORT to another port.\n`,
    });
  });

  it('the process simulates failures in front of the sandbox without affecting other requests', async () => {
    const statusOf = async (stop: string) => {
      const headers = { authorization: `Bearer ${sandbox.apiKey}` };
      return (await fetch(`${sandbox.baseUrl}/v1/departures?stop=${stop}`, { headers })).status;
    };
    for (const stop of ['99000502', '99000503']) expect(await statusOf(stop)).toBe(Number(stop.slice(-3)));
    expect(await statusOf('200070')).toBe(200);
    const { info } = (await (await fetch(`${sandbox.baseUrl}/openapi.json`)).json()) as {
      info: { description: string };
    };
    expect(info.description).toContain('`502` Transport for NSW fails');
  });
});

describe('the process with the timetable of the sandbox', () => {
  let started: ServerProcess;
  beforeAll(async () => {
    started = await startServerProcess({ TIMETABLE: 'on', JOURNEYS: 'timetable' });
  });
  afterAll(() => started?.stop('SIGKILL'));

  it('the process of the sandbox answers every operation as soon as it listens', async () => {
    const headers = { authorization: `Bearer ${started.apiKey}` };
    const paths = ['lines', 'reachable?from=200070', 'travel-times?from=200060&to=200070', 'departures?stop=200070'];
    const statuses = await Promise.all(
      paths.map(async (path) => (await fetch(`${started.baseUrl}/v1/${path}`, { headers })).status),
    );
    expect(statuses).toEqual(paths.map(() => 200));
    const messages = messagesOf(started);
    expect(messages.indexOf('Server listening')).toBeGreaterThan(messages.indexOf('timetable in use'));
  });

  it('the process imports the timetable of the sandbox right after the start', async () => {
    expect(started.log.filter(({ level }) => Number(level) >= 40)).toEqual([
      expect.objectContaining({ msg: expect.stringContaining('embedded sandbox') }),
    ]);
  });

  it('departures, arrivals, journeys, vehicles and runs name a line by the ID that /v1/lines has', async () => {
    await expect.poll(() => messagesOf(started)).toContain('timetable in use');
    const headers = { authorization: `Bearer ${started.apiKey}` };
    const get = async (path: string) =>
      JSON.parse(await (await fetch(`${started.baseUrl}/v1/${path}`, { headers })).text());
    const { departures } = await get('departures?stop=200070&modes=all&include=ids');
    const { arrivals } = await get('arrivals?stop=200070&modes=train&include=ids');
    const { journeys } = await get('trips?from=200070&to=209573&include=ids');
    const { vehicles } = await get('vehicles?lat=-33.87&lng=151.21&radius=5000');
    const run = await get(`runs/${departures[0].run_id}`);
    expect(run.line_id).toBe(departures[0].line_id);
    const legs: OfLine[] = journeys[0].legs;
    expect(legs.map(({ mode }) => mode)).toEqual(expect.arrayContaining(['walk', 'ferry']));
    for (const { line_id: id, mode, route } of [departures[0], arrivals[0], vehicles[0], run, ...legs] as OfLine[]) {
      if (mode === 'walk') expect(id).toBeNull();
      else expect(await get(`lines/${id}`)).toMatchObject({ line_id: id, mode, route });
    }
    expect(await started.stop()).toBe(0);
  });
});

describe('a process with a new DATA_DIR', () => {
  it('the process writes no file or folder that another user may open', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'transit-private-'));
    onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
    const dataDir = join(parent, 'data');
    server = await startServerProcess({ DATA_DIR: dataDir, TIMETABLE: 'on' });
    const form = new URLSearchParams({ email: 'jo@example.org', terms: 'on' });
    expect((await fetch(`${server.baseUrl}/signup`, { method: 'POST', body: form })).status).toBe(202);
    const list = () => readdirSync(parent, { recursive: true, encoding: 'utf8' });
    const expected = [
      /outbox\/./,
      /accounts\.db$/,
      /files\/.*\.zip$/,
      /\.paths$/,
      /\.bin$/,
      /files\.json$/,
      /incidents/,
    ];
    await expect.poll(() => expected.filter((name) => !list().some((path) => name.test(path)))).toEqual([]);
    const open = list().filter((path) => (statSync(join(parent, path)).mode & 0o077) !== 0);
    expect(open).toEqual([]);
  });
});

describe('the process of the service', () => {
  // A container may be unable to open a terminal.
  it.skipIf(!hasTerminal())(
    'the process shows address, key and command at a terminal in three lines, with settings from .env',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'transit-terminal-'));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      writeFileSync(join(folder, '.env'), 'HOST=127.0.0.1\nPORT=0\nDATA_DIR=./kept\n');
      const command = `${process.cwd()}/scripts/start`;
      // The time limit ends the terminal even if this process is killed.
      const words = ['120', 'script', '--quiet', '--return', '--flush', '--command', command, '/dev/null'];
      const terminal = spawn('timeout', words, { cwd: folder, env: { PATH: process.env.PATH, TERM: 'dumb' } });
      onTestFinished(() => void terminal.kill());
      let shown = '';
      terminal.stdout.on('data', (chunk) => {
        shown += chunk;
      });
      await expect.poll(() => shown).toMatch(/^Try .*\r\n/m);
      terminal.kill();
      await once(terminal, 'exit');
      const [address = '', key = '', sample = '', rest] = shown.replaceAll('\r', '').split('\n');
      const [url] = /http:\/\/localhost:\d+/.exec(address) ?? [];
      const [token] = /tis_test_\w+$/.exec(key) ?? [];
      expect(address).toBe(`Open    ${url}  (a sandbox: every time is made up)`);
      expect(sample).toBe(
        `Try     curl -H 'Authorization: Bearer ${token}' '${url}/v1/departures?stop=200070&modes=all'`,
      );
      expect(rest).toBe('');
      expect(existsSync(join(folder, 'kept'))).toBe(true);
    },
  );

  it('the process calls the configured upstream and starts no sandbox', async () => {
    upstream = await startUpstream(json({ version: '10.6.21.17', locations: [] }));
    server = await startServerProcess({ UPSTREAM_URL: upstream.url });
    const response = await search(server);
    expect(await response.json()).toEqual({ query: 'qqqqxxxxqqqq', results: [] });
    expect(upstream.requests[0]).toContain('/v1/tp/stop_finder?');
    expect(server.log.map(({ msg }) => msg).join()).not.toContain('sandbox');
  });

  it('the process finishes requests in flight on SIGTERM, waits for no idle connection, and exits with 0', async () => {
    const { url, requests, release } = await startHeldUpstream();
    const started = await startServerProcess({ UPSTREAM_URL: url });
    server = started;
    await (await fetch(`${started.baseUrl}/healthz`)).text();
    const inFlight = search(started);
    await expect.poll(() => requests.length).toBe(1);

    const stopped = started.stop('SIGTERM');
    await expect.poll(() => messagesOf(started)).toContain('stopping');
    release();
    const response = await inFlight;
    expect(response.status).toBe(200);
    expect(response.headers.get('connection')).toBe('close');
    expect(await response.json()).toEqual({ query: 'qqqqxxxxqqqq', results: [] });
    expect(await stopped).toBe(0);
  });

  it('a second SIGTERM does not drop the requests that the first one promised to finish', async () => {
    const { url, requests, release } = await startHeldUpstream();
    const started = await startServerProcess({ UPSTREAM_URL: url });
    server = started;
    const inFlight = search(started);
    await expect.poll(() => requests.length).toBe(1);
    const stopped = started.stop('SIGTERM');
    await expect.poll(() => messagesOf(started)).toContain('stopping');
    started.process.kill('SIGTERM');
    await expect.poll(() => messagesOf(started)).toContain('SIGTERM again');
    release();
    expect((await inFlight).status).toBe(200);
    expect(await stopped).toBe(0);
  });

  // A client without processor time for longer than requests are held back can connect just as the server closes.
  it('the process resets no client that connects anew for each request while it stops', { retry: 2 }, async () => {
    server = await startServerProcess();
    const clients = sendOverNewConnections(server, 32);
    await expect.poll(() => clients.outcomes.get('200') ?? 0).toBeGreaterThan(32);
    const stopped = server.stop('SIGTERM');
    await clients.refused;
    expect([...clients.outcomes.keys()].sort()).toEqual(['200', 'ECONNREFUSED']);
    expect(await stopped).toBe(0);
  });

  it('the process serves metrics and readiness if the settings turn them on', async () => {
    upstream = await startUpstream(json({ version: '10.6.21.17', locations: [] }));
    server = await startServerProcess({ UPSTREAM_URL: upstream.url, METRICS_ADDRESS: '0' });
    expect(await (await fetch(`${server.baseUrl}/readyz`)).json()).toEqual({ status: 'ready' });
    await search(server);
    const [, address = ''] = /metrics are at (\S+)/.exec(server.log.map(({ msg }) => msg).join('\n')) ?? [];
    const { values } = readMetrics(await (await fetch(address)).text());
    expect(values.get('transit_http_requests_total{operation="/v1/stops/search",status="200",plan="pro"}')).toBe(1);
    expect(values.get('transit_store_writable')).toBe(1);
    expect((await fetch(`${server.baseUrl}/metrics`)).status).toBe(404);
  });

  it('the process starts neither on accounts of the other kind, nor with the sandbox by mistake', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'transit-kinds-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    const store = await openTestStore([], dataDir);
    await issueTestKey(store);
    const refused = await runServerToExit({ DATA_DIR: dataDir });
    expect(refused).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^The account store has accounts of a service .*DATA_DIR/),
    });
    await store.close();
    const sandboxDir = mkdtempSync(join(tmpdir(), 'transit-kinds-'));
    onTestFinished(() => rmSync(sandboxDir, { recursive: true }));
    const ofSandbox = await openTestStore([], sandboxDir);
    await ofSandbox.markKind('sandbox');
    await ofSandbox.close();
    const real = await runServerToExit({ DATA_DIR: sandboxDir, UPSTREAM_URL: 'http://127.0.0.1:9' });
    expect(real).toEqual({ code: 1, stderr: expect.stringMatching(/^The account store has accounts of the sandbox/) });
    const { code, stderr } = await runServerToExit({ DATA_DIR: dataDir, NODE_ENV: 'production' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('set SANDBOX=1') });
  });

  it('the process starts while Redis is unreachable, and ends when it is back with accounts of the other kind', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const store = await openTestStore([redis.url]);
    await issueTestKey(store);
    await store.close();
    await redis.kill();
    server = await startServerProcess({ REDIS_URL: redis.url, SANDBOX: '1' });
    await redis.restart();
    expect(await server.exited).toBe(1);
    const after = await openTestStore([redis.url]);
    onTestFinished(() => after.close());
    expect(await after.loadAccountByEmail(SANDBOX_EMAIL)).toBeNull();
  });

  it('the process refuses a configuration that cannot work, naming every problem but no secret', async () => {
    const { code, stderr } = await runServerToExit({
      PORT: 'eighty',
      LOG_LEVEL: 'loud',
      UPSTREAM_API_KEY: 'a secret with blanks',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/PORT/);
    expect(stderr).toMatch(/LOG_LEVEL/);
    expect(stderr).toMatch(/UPSTREAM_API_KEY/);
    expect(stderr).not.toMatch(/secret/);
  });
});

function hasTerminal(): boolean {
  ensureProgram('script', 'bsdutils');
  return spawnSync('script', ['--quiet', '--return', '--command', 'true', '/dev/null']).status === 0;
}
