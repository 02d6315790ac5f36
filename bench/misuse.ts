import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKey } from '#src/access/keys.ts';
import { openStore } from '#src/access/stores/open-store.ts';
import { fromSydneyWallClock } from '#src/transit/time.ts';
import { issueTestKey } from '#test/support/access.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { startServerProcess } from '#test/support/process.ts';
import { startUpstream } from '#test/support/upstream.ts';
import { describeMachine, hold, print } from './machine.ts';
import { type Caller, misuse, type Polled, poll } from './misuse/callers.ts';
import { percentile } from './percentiles.ts';
import { answerTo } from './soak/planner.ts';

/*
 * Random misuse by several accounts alongside a Pro account that polls like an app, on the complete service as `npm start` starts
 * it, with 5 upstream calls a second and 60,000 a day; at the same time, on a second service, the Pro account alone. The made-up
 * upstream counts the calls that each account causes. `node bench/misuse.ts [seconds] [seed]`
 */
const [seconds = '300', seed = '1'] = process.argv.slice(2);
const CALLS_PER_REQUEST = 1.2;
const FREE_CALLS_A_DAY = 100;
const PRO = 2;
const MISUSERS = { 3: 'free', 4: 'free', 5: 'free', 6: 'free', 7: 'free', 8: 'developer' } as const;
const EVENTS_PER_PAGE = 40;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Abandoned streams and requests end within this time. */
const REST_MS = 10_000;
const silent = { info() {}, warn() {} };

print(describeMachine());
print(`${seconds} s, seed ${seed}`);
const startedAt = Date.now();
const until = startedAt + Number(seconds) * 1000;
const [alone, beside] = await Promise.all([run({}), run(MISUSERS)]);
const days = dayOf(Date.now()) - dayOf(startedAt) + 1;

print('\naccount      calls   charged   calls allowed   responses by status');
for (const { digit, plan, calls, charged, statuses } of [...alone.accounts, ...beside.accounts]) {
  const allowed = Math.floor(CALLS_PER_REQUEST * charged + FREE_CALLS_A_DAY * days);
  const name = digit === PRO ? plan : `${plan} ${digit}`;
  const figures = [calls, charged, allowed].map((figure, column) => String(figure).padStart([6, 10, 16][column] ?? 0));
  print(`${name.padEnd(12)}${figures.join('')}   ${JSON.stringify(statuses)}`);
  if (calls > allowed) hold(`${name} causes no more calls than allowed`, false);
}
hold('every account causes at most 1.2 calls per charged request, plus 100 a day', process.exitCode === undefined);
print(`calls of no account: ${beside.unknownCalls}`);

print('\nPro         polls   refused   age p50   p95   max');
for (const [name, { ages, refused }] of [['alone', alone.polled] as const, ['beside', beside.polled] as const]) {
  const figures = [ages.length + refused, refused, ...agesOf({ ages, refused })];
  print(
    `${name.padEnd(9)}${figures.map((figure, column) => String(figure).padStart([8, 10, 10, 6, 6][column] ?? 0)).join('')}`,
  );
}
const [before, after] = [agesOf(alone.polled), agesOf(beside.polled)];
hold(
  'Pro responses during the misuse are as fresh to within a second, and no more are refused',
  after.every((age, index) => age <= (before[index] ?? 0) + 1) && beside.polled.refused <= alone.polled.refused,
);

async function run(misusers: Record<string, 'free' | 'developer'>) {
  const dataDir = mkdtempSync(join(tmpdir(), 'transit-misuse-'));
  const open = () => openStore({ redis: null, dataDir, log: silent });
  const register = open();
  await register.markKind('real');
  const accounts: (Caller & { plan: 'free' | 'developer' | 'pro' })[] = [];
  for (const [digit, plan] of Object.entries({ ...misusers, [PRO]: 'pro' as const })) {
    accounts.push({ digit: Number(digit), plan, key: await issueTestKey(register, { plan }), statuses: {} });
  }
  await register.close();

  const calls: Record<number, number> = {};
  const upstream = await startUpstream(({ url }, response) => {
    const caller = callerOf(url);
    calls[caller] = (calls[caller] ?? 0) + 1;
    const { status, body } = respond(url);
    setTimeout(() => response.writeHead(status, { 'content-type': 'application/json' }).end(body), latencyOf(url));
  });
  const env = { UPSTREAM_URL: upstream.url, UPSTREAM_API_KEY: 'made-up', LOG_LEVEL: 'info', DATA_DIR: dataDir };
  const server = await startServerProcess(env);
  process.once('exit', () => server.process.kill('SIGKILL'));
  const pro = accounts.find(({ digit }) => digit === PRO) as Caller;
  const [polled] = await Promise.all([
    poll(server.baseUrl, pro, until),
    ...accounts
      .filter((account) => account !== pro)
      .map((account) => misuse(server.baseUrl, account, { seed: Number(seed), until })),
  ]);
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  await server.stop();
  await upstream.close();

  const store = open();
  const usage = async ({ key }: Caller) => {
    const dates = Array.from({ length: 3 }, (_, day) => new Date(startedAt + (day - 1) * DAY_MS));
    const names = dates.map((date) => date.toISOString().slice(0, 10).replaceAll('-', ''));
    const used = await store.loadUsage(parseKey(key)?.accountId ?? '', names);
    return used.reduce((sum, count) => sum + count, 0);
  };
  const counted = [];
  for (const account of accounts) {
    counted.push({ ...account, calls: calls[account.digit] ?? 0, charged: await usage(account) });
  }
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
  return { accounts: counted, polled, unknownCalls: calls[Number.NaN] ?? 0 };
}

/** The digit of the account that caused the call; `NaN` if there is none. */
function callerOf(url: string): number {
  const query = new URLSearchParams(url.split('?')[1]);
  const [lng, lat] = (query.get('coord') ?? query.get('name_origin') ?? '').split(':').map(Number);
  if (lng !== undefined && lat !== undefined) return Math.floor((-30 - lat) * 10 + 1e-9);
  return Number.parseInt((query.get('name_dm') ?? query.get('name_sf') ?? query.get('name_origin') ?? '')[0] ?? '', 10);
}

/** Stops with second digit 3 are unknown, 9 fail at once, and 5 fail after two seconds; so do searches. */
function respond(url: string): { status: number; body: string } {
  const query = new URLSearchParams(url.split('?')[1]);
  const stop = query.get('name_dm');
  if (isFailing(url)) return { status: 502, body: '' };
  if (stop?.[1] === '3') return { status: 200, body: '{"version":"10.2.1.42","locations":[],"stopEvents":[]}' };
  if (stop) return { status: 200, body: departureMonitorFor(url, ...leavesOf(query)) };
  // The stops around a position belong to the caller.
  return { status: 200, body: answerTo(url, Date.now()).replaceAll(/"21(\d{4})"/g, `"${callerOf(url)}0$1"`) };
}

function isFailing(url: string): boolean {
  return /name_(dm|origin)=\d[59]\d{4}|name_sf=\d(\+|%20)fail/.test(url);
}

function latencyOf(url: string): number {
  return /name_(dm|origin)=\d5\d{4}/.test(url) ? 2000 : 150;
}

/** A full page from the requested time on. */
function leavesOf(query: URLSearchParams): string[] {
  const [date, time] = [query.get('itdDate'), query.get('itdTime')];
  const from = (date && time && fromSydneyWallClock({ date, time })) || Date.now();
  return Array.from({ length: EVENTS_PER_PAGE }, (_, index) => {
    return `${new Date(from + (index + 1) * MINUTE_MS).toISOString().slice(0, 19)}Z`;
  });
}

function agesOf({ ages }: Polled): number[] {
  return [0.5, 0.95, 1].map((share) => percentile(ages, share));
}

function dayOf(moment: number): number {
  return Math.floor(moment / DAY_MS);
}
