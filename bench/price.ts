import { createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '#src/access/stores/open-store.ts';
import { DAY_MS } from '#src/core/clock.ts';
import { issueTestKey } from '#test/support/access.ts';
import { startServerProcess } from '#test/support/process.ts';
import { startUpstream } from '#test/support/upstream.ts';
import { openPairs } from './journeys/pairs.ts';
import { describeMachine, hold, print } from './machine.ts';
import { percentile } from './percentiles.ts';
import { listRows, type Row } from './price/rows.ts';

/*
 * What a charge buys: the processor time of all threads of the service for one request with the worst valid parameters of each
 * operation, and what the response charged for it. The service runs as `npm start` starts it, with the zips of DIR laid out as
 * upstream's paths, and plans from the timetable. Each row sends many different queries, then repeats the dearest ones at other
 * times; no response is cached.
 * `node bench/price.ts DIR [queries of a row] [only rows with this text] [seed]`. DATA_DIR, if set, keeps the import for the next
 * run.
 */
const [directory = '.', queries = '30', only = '', seed = '1'] = process.argv.slice(2);
const GOAL_MS = 100;
const DEAREST = 3;
const REPEATS = 5;
const WARM_UP = 3;
const BURST_PER_SECOND = 40;
const silent = { info() {}, warn() {} };
/** The requests made to find what the account has used. */
let looks = 0;

const dataDir = process.env.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'transit-price-'));
mkdirSync(dataDir, { recursive: true });
const store = openStore({ redis: null, dataDir, log: silent });
await store.markKind('real');
// Without a daily limit, responses do not say what they charged.
const apiKey = await issueTestKey(store, { plan: 'developer', email: `price-${Date.now()}@example.com` });
await store.close();

const upstream = await startUpstream(({ url, method }, response) => {
  const { pathname } = new URL(url, 'http://upstream');
  const file = `${directory}${pathname}.zip`;
  response.statusCode = existsSync(file) ? 200 : pathname.includes('/tp/') ? 200 : 404;
  if (!existsSync(file)) return void response.end(JSON.stringify({ locations: [], stopEvents: [], journeys: [] }));
  response.setHeader('content-type', 'application/zip').setHeader('last-modified', statSync(file).mtime.toUTCString());
  if (method === 'HEAD') return void response.end();
  createReadStream(file).pipe(response);
});
const server = await startServerProcess({
  UPSTREAM_URL: upstream.url,
  UPSTREAM_API_KEY: 'made-up',
  UPSTREAM_RPS: '100',
  TIMETABLE: 'on',
  JOURNEYS: 'timetable',
  DATA_DIR: dataDir,
});

print(describeMachine());
try {
  await untilReady();
  const pairs = openPairs(findTimetable(), Number(seed), Math.floor(Date.now() / DAY_MS));
  const rows = (await listRows({ ...pairs, get: (path) => send({ path }) })).filter(({ name }) => name.includes(only));
  const idleMs = await measureIdle();
  print(`idle: ${idleMs.toFixed(1)} ms of processor time a second\n`);
  print(`${'ms of processor time'.padEnd(56)}   p50    p95    max  charge  a charge  statuses`);
  for (const row of rows) await measure(row, idleMs / 1000);
} finally {
  await server.stop('SIGKILL');
  await upstream.close();
}

/** Prints the figures of one row. The last is the mean of the dearest query when it is repeated at other times. */
async function measure({ name, next, again }: Row, idleShare: number): Promise<void> {
  for (let index = 0; index < WARM_UP; index++) await send(next());
  const sent: (Measured & { request: Request })[] = [];
  for (let index = 0; index < Number(queries); index++) {
    const request = next();
    sent.push({ request, ...(await price(request, idleShare)) });
  }
  const perCharge = ({ ms, charge }: Measured) => ms / Math.max(1, charge);
  const dearest = sent.toSorted((a, b) => perCharge(b) - perCharge(a)).slice(0, DEAREST);
  const means: number[] = [];
  for (const { request } of dearest) {
    const repeated: Measured[] = [];
    for (let index = 0; index < REPEATS; index++) repeated.push(await price(again(request), idleShare));
    means.push(repeated.reduce((sum, one) => sum + perCharge(one), 0) / REPEATS);
  }
  const times = sent.map(({ ms }) => ms);
  const charges = [...new Set(sent.map(({ charge }) => charge))].sort((a, b) => a - b).join('/');
  const statuses = Object.entries(Object.groupBy(sent, ({ status }) => status)).map(
    ([status, all]) => `${all?.length} × ${status}`,
  );
  const figures = [0.5, 0.95, 1].map((share) => percentile(times, share).toFixed(0).padStart(6)).join(' ');
  const worst = Math.max(...means);
  print(`${name.padEnd(55)}${figures}${charges.padStart(8)}${worst.toFixed(0).padStart(10)}  ${statuses.join(', ')}`);
  if (worst > GOAL_MS) hold(`${name}: at most ${GOAL_MS} ms for a charge`, false);
}

interface Request {
  path: string;
  body?: object;
}

interface Measured {
  ms: number;
  charge: number;
  status: number;
}

async function price(request: Request, idleShare: number): Promise<Measured> {
  const before = await usedRequests();
  const [startedAt, startMs] = [performance.now(), processorMs()];
  const { status } = await send(request);
  const ms = processorMs() - startMs - idleShare * (performance.now() - startedAt);
  return { ms: Math.max(0, ms), charge: (await usedRequests()) - before, status };
}

async function send({ path, body }: Request): Promise<{ status: number; text: string; headers: Headers }> {
  await sleep(1000 / BURST_PER_SECOND);
  const response = await fetch(`${server.baseUrl}${path}`, {
    headers: {
      authorization: `Bearer ${apiKey}`,
      'accept-encoding': 'gzip',
      ...(body && { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** What the account has used of its day, without the request that finds it. */
async function usedRequests(): Promise<number> {
  const { headers } = await send({ path: '/v1/stops/000' });
  return -Number(headers.get('x-ratelimit-remaining')) - ++looks;
}

/** The processor time of all threads so far. */
function processorMs(): number {
  const tasks = `/proc/${server.process.pid}/task`;
  let nanoseconds = 0;
  for (const task of readdirSync(tasks)) {
    nanoseconds += Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]);
  }
  return nanoseconds / 1e6;
}

async function measureIdle(): Promise<number> {
  const before = processorMs();
  await sleep(5000);
  return (processorMs() - before) / 5;
}

async function untilReady(): Promise<void> {
  const isReady = async () => (await send({ path: '/v1/reachable?from=200060&minutes=5' })).status === 200;
  while (!(await isReady())) await sleep(1000);
  // The threads have just started, and the import may still be tidying up.
  await sleep(5000);
}

function findTimetable(): string {
  const name = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).find((one) =>
    /timetable-\d{1,12}\.bin$/.test(one),
  );
  return join(dataDir, name ?? '');
}
