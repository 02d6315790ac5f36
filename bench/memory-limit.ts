import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { feedResponse, toFeedName } from '#sandbox/feeds/feed.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { departureResponse } from '#sandbox/responses/departure-response.ts';
import { startServerProcess } from '#test/support/process.ts';
import { startUpstream } from '#test/support/upstream.ts';
import { stopId } from './economy/network.ts';
import { createTimetabledNetwork } from './economy/timetabled-network.ts';
import { describeMachine, print } from './machine.ts';
import { makeTrip } from './miss-path/responses.ts';

/*
 * The service as `npm start` starts it, in a Linux memory control group: boards of many stops from the feeds, then large trips at
 * the same time, then boards again. With `minutes`, boards of one stop after another come first, five a second. Fails when a
 * request is refused for lack of memory or the process is killed.
 * For root: `node bench/memory-limit.ts [stops] [megabytes of the group] [kilobytes of a trip] [minutes]`. `MALLOC_ARENA_MAX` is
 * passed on.
 */
const [stops = '4000', limitMb = '768', tripKilobytes = '909', minutes = '0'] = process.argv.slice(2);
const MEGABYTE = 2 ** 20;
const TRIPS = 64;
const TRIP_BYTES = Number(tripKilobytes) * 1000;
const AT_ONCE = 16;
/** In upstream's time zone this may be today, which its timetable covers too. */
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
/** How often the content of a feed is rebuilt. */
const FEED_SECONDS = 120;
const GROUPS = '/sys/fs/cgroup/memory';
const group = `${GROUPS}/transit-bench-${process.pid}`;

mkdirSync(group);
writeFileSync(`${group}/memory.limit_in_bytes`, String(Number(limitMb) * MEGABYTE));
const upstream = await startSandboxUpstream();
const server = await startServerProcess(
  {
    UPSTREAM_URL: upstream.url,
    UPSTREAM_API_KEY: 'made-up',
    UPSTREAM_RPS: '1000',
    UPSTREAM_DAILY_BUDGET: '100000000',
    TIMETABLE: 'auto',
    ...(process.env.MALLOC_ARENA_MAX && { MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX }),
  },
  { controlGroup: `${group}/tasks` },
);

const statuses = new Map<string, number>();
/** The texts of failed responses. */
const failures = new Set<string>();
print(describeMachine());
print(`group of ${limitMb} MiB, ${stops} stops, MALLOC_ARENA_MAX=${process.env.MALLOC_ARENA_MAX ?? 'not set'}\n`);
print(
  `${'after'.padEnd(34)}${'resident MB'.padStart(12)}${'group MB'.padStart(10)}${'most MB'.padStart(9)}  responses`,
);
try {
  report('the start');
  // The first board starts the polling of feeds.
  for (let board = 0; board < 10; board++) await send(boardOf(board));
  await sleep(5000);
  for (let minute = 0; minute < Number(minutes); minute++) {
    for (let second = 0; second < 60; second++) {
      const boards = Array.from({ length: 5 }, (_, n) => boardOf(((minute * 60 + second) * 5 + n) % Number(stops)));
      await Promise.all([...boards.map(send), sleep(1000)]);
    }
    report(`${minute + 1} minutes of 5 boards a second`);
    statuses.clear();
  }
  await sendAll(
    'every stop once',
    Array.from({ length: Number(stops) }, (_, stop) => boardOf(stop)),
  );
  await sendAll(
    'every stop again',
    Array.from({ length: Number(stops) }, (_, stop) => boardOf(stop)),
  );
  for (const round of [1, 2, 3]) {
    const trips = Array.from({ length: TRIPS }, (_, trip) => tripOf(round * TRIPS + trip));
    await sendAll(`${TRIPS} trips of ${TRIP_BYTES / 1000} kB at the same time, ${round}`, trips, TRIPS);
  }
  await sleep(15_000);
  await sendAll(
    'every stop a third time',
    Array.from({ length: Number(stops) }, (_, stop) => boardOf(stop)),
  );
} finally {
  for (const failure of failures) print(failure);
  for (const reason of new Set(server.log.map(reasonOf))) if (reason) print(reason);
  if (server.process.exitCode !== null || server.process.signalCode !== null) process.exitCode = 1;
  await server.stop('SIGKILL');
  await upstream.close();
  // The kernel takes a moment to see that the group is empty.
  await sleep(500);
  rmdirSync(group);
}

/** The reason for a failure in the log. */
function reasonOf({ reason, err }: Record<string, unknown>): string | undefined {
  return (reason as string | undefined) ?? (err as Error | undefined)?.message;
}

function boardOf(stop: number): string {
  return `/v1/departures?stop=${stopId(stop)}&modes=all`;
}

function tripOf(trip: number): string {
  const time = `${String(8 + Math.floor(trip / 60)).padStart(2, '0')}${String(trip % 60).padStart(2, '0')}`;
  return `/v1/trips?from=202091&to=G2095102&date=${TOMORROW}&time=${time}&path=full`;
}

async function sendAll(name: string, paths: string[], atOnce = AT_ONCE): Promise<void> {
  statuses.clear();
  const left = [...paths];
  const sendNext = async () => {
    for (let path = left.shift(); path; path = left.shift()) await send(path);
  };
  await Promise.all(Array.from({ length: atOnce }, sendNext));
  report(name);
}

async function send(path: string): Promise<void> {
  const answer = await fetch(server.baseUrl + path, { headers: { authorization: `Bearer ${server.apiKey}` } }).then(
    async (response) => ({ status: String(response.status), text: await response.text() }),
    (error: Error) => ({ status: error.name, text: '' }),
  );
  if (answer.status !== '200') {
    process.exitCode = 1;
    failures.add(`${answer.status} ${answer.text.slice(0, 200)}`);
  }
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
}

function report(name: string): void {
  const { pid } = server.process;
  const status = server.process.exitCode === null ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
  const resident = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  const figures = [resident, readGroup('memory.usage_in_bytes'), readGroup('memory.max_usage_in_bytes')];
  const columns = figures.map((bytes, index) => (bytes / 1e6).toFixed(0).padStart([12, 10, 9][index] ?? 0));
  print(`${name.padEnd(34)}${columns.join('')}  ${[...statuses].map(([status, n]) => `${n} × ${status}`).join(', ')}`);
}

function readGroup(name: string): number {
  return Number(readFileSync(`${group}/${name}`, 'utf8'));
}

/** The sandbox's departures and feeds for a network of that size, and one large trip. It runs outside the group. */
function startSandboxUpstream() {
  const sandbox = indexNetwork(createTimetabledNetwork(Number(stops)));
  const trip = makeTrip(TRIP_BYTES);
  const feeds = new Map<string, { until: number; bytes: Uint8Array }>();
  return startUpstream(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://upstream');
    const seconds = Math.floor(Date.now() / 1000);
    const feed = toFeedName(pathname);
    if (feed) {
      const known = feeds.get(feed);
      const bytes = known && seconds < known.until ? known.bytes : feedResponse(sandbox, feed, seconds);
      if (bytes !== known?.bytes) feeds.set(feed, { until: seconds + FEED_SECONDS, bytes });
      response.end(bytes);
    } else if (pathname.endsWith('/departure_mon')) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(departureResponse(sandbox, searchParams, seconds)));
    } else {
      response.setHeader('content-type', 'application/json');
      response.end(trip);
    }
  });
}
