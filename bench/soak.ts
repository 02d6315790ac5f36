import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '#src/access/stores/open-store.ts';
import { DAY_MS } from '#src/core/clock.ts';
import { issueTestKey } from '#test/support/access.ts';
import { freePort } from '#test/support/free-port.ts';
import { startServerProcess } from '#test/support/process.ts';
import { openPairs } from './journeys/pairs.ts';
import { describeMachine, hold, print } from './machine.ts';
import { percentile } from './percentiles.ts';
import { createCallers } from './soak/callers.ts';
import { fitLastHalf, plot, type Sample, titleOf } from './soak/plot.ts';

/*
 * Two hours in real time with everything on: the service, as `npm start` starts it, in a memory control group of Linux of 512
 * MiB, with the zips of DIR, ten journeys a second beside requests of all kinds, feeds, streams, assistants, pages, errors and
 * many accounts. No request repeats. After a quarter of the time the zips of CHANGED are imported. Each minute becomes a line of
 * JSON in the file that the bench names; at the end it draws bench/soak.svg. `kill -USR2` of the service's process writes a heap
 * snapshot. For root: `node bench/soak.ts DIR CHANGED [minutes] [requests a second] [MiB of the group]`
 */
const [directory = '.', changed = '.', minutes = '120', perSecond = '15', limitMib = '512'] = process.argv.slice(2);
const ACCOUNTS = 1000;
const STREAMS = 50;
/** Requests without a response, at most. On a busy machine there are fewer requests a second. */
const MAX_OPEN = 100;
/** Beside the requests of all kinds. */
const JOURNEYS_PER_SECOND = 10;
/**
 * They fill the cache of upstream's responses in the first half hour. At the rate of the load that would take longer than the
 * bench.
 */
const FILLING_REQUESTS = 36_000;
const MAX_SLOPE = 5;
const MEGABYTE = 1e6;
const MINUTE_MS = 60_000;
const silent = { info() {}, warn() {} };
const group = `/sys/fs/cgroup/memory/transit-bench-${process.pid}`;
const dataDir = mkdtempSync(join(tmpdir(), 'transit-soak-'));
const samplesFile = join(tmpdir(), `soak-${process.pid}.jsonl`);
const metricsPort = await freePort();

mkdirSync(group);
writeFileSync(`${group}/memory.limit_in_bytes`, String(Number(limitMib) * 2 ** 20));
const store = openStore({ redis: null, dataDir, log: silent });
await store.markKind('real');
const keys: string[] = [];
while (keys.length < ACCOUNTS) {
  const plan = keys.length % 10 === 0 ? 'free' : keys.length % 10 < 4 ? 'developer' : 'pro';
  keys.push(await issueTestKey(store, { plan }));
}
await store.close();
const upstream = fork(new URL('./soak/upstream.ts', import.meta.url));
const [upstreamUrl] = (await once(upstream, 'message')) as [string];
upstream.send({ directory });
const environment = {
  DATA_DIR: dataDir,
  UPSTREAM_URL: upstreamUrl,
  UPSTREAM_API_KEY: 'made-up',
  UPSTREAM_RPS: '1000',
  UPSTREAM_DAILY_BUDGET: '100000000',
  TIMETABLE: 'on',
  JOURNEYS: 'timetable',
  NODE_COMPILE_CACHE: join(dataDir, 'cache'),
};
execFileSync(process.execPath, ['src/cli/compile.ts'], { env: { ...process.env, ...environment } });
const server = await startServerProcess(
  { ...environment, METRICS_ADDRESS: String(metricsPort), NODE_OPTIONS: '--heapsnapshot-signal=SIGUSR2' },
  { controlGroup: `${group}/tasks` },
);
process.once('exit', () => server.process.kill('SIGKILL'));
const samples: Sample[] = [];
const totals: Record<string, number> = {};
const problems: Record<string, number> = {};
let imports = 0;
let isUpdating = false;

print(describeMachine());
print(`service: process ${server.process.pid}; samples: ${samplesFile}\n`);
try {
  while (imports === 0) await sleep(500).then(readLog);
  const timetable = findTimetable();
  upstream.send({ timetable });
  await once(upstream, 'message');
  // As a load balancer would.
  while (!(await fetch(`${server.baseUrl}/readyz`)).ok) await sleep(500);
  const callers = createCallers(
    Number(new URL(server.baseUrl).port),
    keys,
    openPairs(timetable, 1, Math.floor(Date.now() / DAY_MS) + 1),
  );
  const ticks = setInterval(() => callers.openCount() < MAX_OPEN && void callers.send(), 1000 / Number(perSecond));
  const journeys = setInterval(
    () => callers.openCount() < MAX_OPEN && void callers.sendJourney(),
    1000 / JOURNEYS_PER_SECOND,
  );
  const opened = setInterval(() => callers.streamCount() < STREAMS && callers.openStream(), 500);
  void callers.fill(FILLING_REQUESTS);
  print(' minute   anonymous   usage   heap   caches   rss   files   streams     p99   responses');
  const startedAt = performance.now();
  for (let minute = 1; minute <= Number(minutes) && server.process.exitCode === null; minute++) {
    const importsBefore = imports;
    if (minute === Math.ceil(Number(minutes) / 4)) void updateSchedule();
    const wasUpdating = isUpdating;
    const readings: number[] = [];
    while (performance.now() < startedAt + minute * MINUTE_MS) {
      readings.push(readAnonymous());
      await sleep(1000);
    }
    readLog();
    await takeSample(minute, readings, callers, wasUpdating || imports > importsBefore);
  }
  clearInterval(ticks);
  clearInterval(journeys);
  clearInterval(opened);
  callers.close();
  const { slope } = fitLastHalf(samples);
  writeFileSync(new URL('soak.svg', import.meta.url), plot(samples, titleOf(samples.length)));
  print(`\nresponses: ${describe(totals)}`);
  hold('the process lives', server.process.exitCode === null && server.process.signalCode === null);
  hold(`anonymous memory grows by ${slope.toFixed(1)} MB an hour in the last half, less than 5`, slope < MAX_SLOPE);
  hold(`no request fails: ${describe(callers.failures)}`, Object.keys(callers.failures).length === 0);
} finally {
  readLog();
  const { exitCode, signalCode } = server.process;
  const [, killed = '0'] = /^oom_kill (\d+)$/m.exec(readFileSync(`${group}/memory.oom_control`, 'utf8')) ?? [];
  hold('the kernel has ended no process', killed === '0');
  print(`\nthe service: exit code ${exitCode}, signal ${signalCode}; problems in its log: ${describe(problems)}`);
  await server.stop('SIGKILL');
  upstream.disconnect();
  rmSync(dataDir, { recursive: true, force: true });
  // The kernel takes a moment to see that the group is empty. An import may still be in it.
  for (let tries = 0; existsSync(group) && tries < 30; tries++) {
    await sleep(1000);
    try {
      rmdirSync(group);
    } catch {
      // Not yet.
    }
  }
}

/**
 * Imports the changed zips as `npm run timetable -- update` does, with the import in the group, as that of the service at night.
 * The service takes them within a minute.
 */
async function updateSchedule(): Promise<void> {
  isUpdating = true;
  upstream.send({ directory: changed });
  const { PATH } = process.env;
  const child = spawn(process.execPath, ['src/cli/timetable.ts', 'update'], {
    env: { PATH, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const children = `/proc/${child.pid}/task/${child.pid}/children`;
  const enter = setInterval(() => {
    const found = existsSync(children) ? readFileSync(children, 'utf8').trim().split(' ') : [];
    for (const pid of found) if (pid !== '') writeFileSync(`${group}/tasks`, pid);
  }, 20);
  const [code] = await once(child, 'exit');
  clearInterval(enter);
  isUpdating = false;
  print(`the update of the schedule exited with ${code}`);
  upstream.send({ timetable: findTimetable() });
}

/** Counts imports and problems, and forgets the lines. */
function readLog(): void {
  for (const { msg, level, err } of server.log.splice(0)) {
    if (msg === 'timetable in use') imports++;
    const name = `${msg}: ${(err as Error | undefined)?.message ?? ''}`.slice(0, 120);
    if (Number(level) >= 40) problems[name] = (problems[name] ?? 0) + 1;
  }
}

function findTimetable(): string {
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  const found = names
    .filter((one) => /timetable-\d{1,12}\.bin$/.test(one))
    .sort((one, other) => order(one) - order(other));
  return join(dataDir, found.at(-1) ?? '');
}

function order(name: string): number {
  return Number(/(\d{1,12})\.bin$/.exec(name)?.[1]);
}

function readAnonymous(): number {
  return Number(/^total_rss (\d+)$/m.exec(readFileSync(`${group}/memory.stat`, 'utf8'))?.[1]) / MEGABYTE;
}

/** One minute: the anonymous memory is the mean of its seconds, because garbage collection makes it saw-toothed. */
async function takeSample(
  minute: number,
  readings: number[],
  callers: ReturnType<typeof createCallers>,
  isImport: boolean,
): Promise<void> {
  const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).then((response) => response.text());
  /** The sum of all series of a metric. */
  const read = (name: string) =>
    metrics
      .split('\n')
      .reduce((sum, line) => sum + (line.match(`^${name}[ {]`) ? Number(line.split(' ').at(-1)) : 0), 0);
  const caches: Record<string, number> = Object.fromEntries(
    [...metrics.matchAll(/^transit_cache_size\{cache="([^"]{1,60})",unit="bytes"\} (\d{1,12})/gm)].map(
      ([, name, n]) => [name, Number(n)],
    ),
  );
  const { statuses, latenciesMs } = callers.takeMinute();
  for (const [status, n] of Object.entries(statuses)) totals[status] = (totals[status] ?? 0) + n;
  const sample = {
    minute,
    anonymous: readings.reduce((sum, one) => sum + one, 0) / readings.length,
    most: Math.max(...readings),
    usage: Number(readFileSync(`${group}/memory.usage_in_bytes`, 'utf8')) / MEGABYTE,
    heap: read('nodejs_heap_size_used_bytes') / MEGABYTE,
    caches: Object.values(caches).reduce((sum, bytes) => sum + bytes, 0) / MEGABYTE,
    rss: read('process_resident_memory_bytes') / MEGABYTE,
    files: readdirSync(`/proc/${server.process.pid}/fd`).length,
    streams: callers.streamCount(),
    p99: percentile(latenciesMs, 0.99),
    isImport,
    statuses,
    cacheBytes: caches,
  };
  samples.push(sample);
  appendFileSync(samplesFile, `${JSON.stringify(sample)}\n`);
  const { anonymous, usage, heap, rss, files, streams, p99 } = sample;
  const figures = [minute, anonymous, usage, heap, sample.caches, rss, files, streams, p99];
  const columns = figures.map((figure, index) => figure.toFixed(0).padStart([7, 12, 8, 7, 9, 6, 8, 10, 8][index] ?? 0));
  print(`${columns.join('')}   ${describe(statuses)}${isImport ? '; import' : ''}`);
  if (Object.keys(callers.failures).length > 0) print(`         failed so far: ${describe(callers.failures)}`);
}

function describe(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, n]) => `${n} × ${name}`)
    .join(', ');
}
