import { spawn } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ensureProgram } from '#test/support/debian.ts';
import { type Front, startFront } from '#test/support/front.ts';
import { AT_TEN, AT_TWENTY, type StreamingService, startStreamingService, upstreamFailure } from './service.ts';
import { startUnreliableProxy, type UnreliableProxy } from './unreliable-proxy.ts';

let front: Front;
let proxy: UnreliableProxy;
let streaming: StreamingService;
let streamProxy: UnreliableProxy;

beforeAll(async () => {
  ensureProgram('python3', 'python3');
  front = await startFront({ now: '2026-11-20T02:00:20Z' });
  proxy = await startUnreliableProxy(front.url);
  streaming = await startStreamingService();
  streamProxy = await startUnreliableProxy(streaming.url);
});
afterAll(async () => {
  await proxy?.close();
  await streamProxy?.close();
  await streaming?.app.close();
  await front?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  streaming.leaves = [AT_TEN];
  proxy.requests.length = 0;
  streamProxy.requests.length = 0;
});

const send = async (path: string) =>
  (await front.app.inject({ url: path, headers: { authorization: `Bearer ${front.testKey}` } })).json();
const statuses = () => proxy.requests.map(({ status }) => status);

const PROGRAM = `
import json, os, sys
from transit import Transit, TransitError

transit = Transit(os.environ["TIS_URL"], os.environ["TIS_KEY"], max_wait=0.005)


def show(value):
    print(json.dumps(value), flush=True)


def refused(function):
    try:
        function()
    except TransitError as error:
        return vars(error)
`;

/** Starts a program that has a client named `transit`. Each value that it shows is a line of JSON. */
function startPython(program: string, { url, key }: { url: string; key: string }) {
  const env = {
    ...process.env,
    PYTHONPATH: 'clients/python',
    PYTHONDONTWRITEBYTECODE: '1',
    TIS_URL: url,
    TIS_KEY: key,
  };
  const child = spawn('python3', ['-c', PROGRAM + program], { env });
  const shown: unknown[] = [];
  let rest = '';
  let complaints = '';
  child.stdout.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    shown.push(...lines.map((line) => JSON.parse(line)));
  });
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  const ended = new Promise<unknown[]>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(shown) : reject(new Error(complaints))));
  });
  return { shown, ended };
}

const run = (program: string) => startPython(program, { url: proxy.url, key: front.testKey }).ended;
const startStream = (program: string) => startPython(program, { url: streamProxy.url, key: streaming.key });

it('the Python client returns the responses of the service', async () => {
  const shown = await run(`
show(transit.departures("200070", modes=["train", "bus"], limit=3))
show(transit.nearby(-33.8731, 151.2069, modes="all"))
show(transit.search("O'Connell & Co/?"))
show(transit.trips("202020", "209573", wheelchair=True, date=None))
show(transit.get("/v1/stops/200070"))`);
  expect(shown).toEqual([
    await send('/v1/departures?stop=200070&modes=train,bus&limit=3'),
    await send('/v1/nearby?lat=-33.8731&lng=151.2069&modes=all'),
    await send(`/v1/stops/search?q=${encodeURIComponent("O'Connell & Co/?")}`),
    await send('/v1/trips?from=202020&to=209573&wheelchair=true'),
    await send('/v1/stops/200070'),
  ]);
});

it('the Python client pages through later and earlier departures without repeating one', async () => {
  const shown = await run(`
for rel in ("next", "prev"):
    pages = transit.pages("/v1/departures", rel=rel, stop="200070", modes="all", limit=4)
    rows = [json.dumps(row) for _ in range(3) for row in next(pages)["departures"]]
    show([len(rows), len(set(rows))])`);
  expect(shown).toEqual([
    [12, 12],
    [12, 12],
  ]);
});

it('the Python client ends its pages where the list ends, and takes only the query of a link', async () => {
  const link = '<https://evil.example/v1/departures?stop=2&cursor=x>; rel="next"';
  proxy.failures.push({ status: 200, headers: { link }, body: '{}' }, { status: 200, body: '{}' });
  expect(await run('show(list(transit.pages("/v1/departures", stop=1)))')).toEqual([[{}, {}]]);
  expect(proxy.requests.map(({ url }) => url)).toEqual(['/v1/departures?stop=1', '/v1/departures?stop=2&cursor=x']);
});

it('the Python client repeats a request with its ETag, and returns the same response after a 304', async () => {
  const [first, second] = await run('show(transit.departures("200070")); show(transit.departures("200070"))');
  expect([statuses(), second]).toEqual([[200, 304], first]);
});

it('the Python client repeats a request that failed for a while, and gives it up after the last attempt', async () => {
  const overloaded = { status: 503, headers: { 'retry-after': '0' }, body: '<h1>Overloaded</h1>' };
  proxy.failures.push('cut', overloaded, { status: 200, body: '<h1>Sign in to this network</h1>' });
  expect(await run('show(transit.departures("200070")["stop_id"])')).toEqual(['200070']);
  expect(proxy.requests).toHaveLength(4);
  proxy.failures.push(overloaded, overloaded, 'cut');
  const shown = await run(`
transit.retries = 1
show(refused(lambda: transit.departures("200070")))
transit.retries = 0
show(refused(lambda: transit.departures("200070")))`);
  expect(shown).toMatchObject([
    { code: 'UNKNOWN_RESPONSE', status: 503, retry_after: 0 },
    { code: 'NO_CONNECTION', status: 0, is_temporary: true },
  ]);
});

it('the Python client does not repeat a refused request, nor one that has to wait too long', async () => {
  const [wrong] = await run('show(refused(lambda: transit.departures("x")))');
  expect(wrong).toMatchObject({
    code: 'INVALID_PARAMETER',
    status: 400,
    docs: `${front.url}/docs/errors/INVALID_PARAMETER`,
    request_id: expect.any(String),
    is_temporary: false,
  });
  const body = JSON.stringify({ error: { code: 'DAILY_LIMIT_EXCEEDED', message: 'Daily limit reached.' } });
  proxy.failures.push({ status: 429, headers: { 'retry-after': '3600' }, body });
  const [limited] = await run('show(refused(lambda: transit.departures("200070")))');
  expect(limited).toMatchObject({ code: 'DAILY_LIMIT_EXCEEDED', retry_after: 3600 });
  expect(statuses()).toEqual([400, 429]);
});

it('a stream of the Python client yields each new board, and connects again after the last event', async () => {
  const { shown, ended } = startStream(`
boards = transit.stream("/v1/departures/stream", stop="200060")
for _ in range(3):
    show([departure["scheduled_at"] for departure in next(boards)["departures"]])`);
  await expect.poll(() => shown).toHaveLength(1);
  streaming.leaves = upstreamFailure();
  await expect.poll(() => streamProxy.open()).toBe(1);
  streaming.leaves = [AT_TWENTY];
  await expect.poll(() => shown).toHaveLength(2);
  streamProxy.failures.push('cut', { status: 503, headers: { 'retry-after': '0' } });
  streamProxy.cut();
  await expect.poll(() => streamProxy.requests.length).toBe(4);
  streaming.leaves = [AT_TEN, AT_TWENTY];
  expect(await ended).toEqual([[AT_TEN], [AT_TWENTY], [AT_TEN, AT_TWENTY]]);
  const [first, ...others] = streamProxy.requests.map(({ headers }) => headers['last-event-id']);
  expect(first).toBeUndefined();
  expect(others).toEqual(Array(3).fill(expect.stringMatching(/^W\/"/)));
});

it('a stream of the Python client raises an error when the service refuses it or ends it for good', async () => {
  const headers = { 'content-type': 'text/event-stream' };
  for (const code of ['SERVICE_UNAVAILABLE', 'STOP_NOT_FOUND'])
    streamProxy.failures.push({
      status: 200,
      headers,
      body: `event: end\ndata: ${JSON.stringify({ error: { code, message: 'Over.' } })}\n\n`,
    });
  const { ended } = startStream(`
stream = lambda: next(transit.stream("/v1/departures/stream", stop="200060"))
show(refused(stream))
transit.key = "nonsense"
show(refused(stream))`);
  expect(await ended).toMatchObject([
    { code: 'STOP_NOT_FOUND', status: 0 },
    { code: 'UNAUTHORIZED', status: 401 },
  ]);
  expect(streamProxy.requests).toHaveLength(3);
});
