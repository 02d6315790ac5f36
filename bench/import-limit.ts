import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServerProcess } from '#test/support/process.ts';
import { startUpstream } from '#test/support/upstream.ts';
import { sendAtRate } from './latency/open-loop.ts';
import { describeMachine, hold, print } from './machine.ts';
import { percentile } from './percentiles.ts';

/*
 * The service as `npm start` starts it, in a Linux memory control group: it imports the zips of a directory, laid out as
 * upstream's paths, while a client reads a board 200 times a second. The import begins after 20 quiet seconds.
 * For root: `MALLOC_ARENA_MAX=1 node bench/import-limit.ts DIR [megabytes of the group] [STOP]`
 */
const [directory = '.', limitMb = '768', stop = '200060'] = process.argv.slice(2);
const MEGABYTE = 2 ** 20;
const PER_SECOND = 200;
const SLICE_MS = 4000;
const SLICES_BEFORE = 5;
const SLICES_AFTER = 2;
let quietSlices = 0;
/** The bundle of all operators is imported after the other files. */
const IMPORTS = process.env.TIMETABLE?.endsWith(',complete') ? 2 : 1;
const group = `/sys/fs/cgroup/memory/transit-bench-${process.pid}`;

mkdirSync(group);
writeFileSync(`${group}/memory.limit_in_bytes`, String(Number(limitMb) * MEGABYTE));
const isReleased = Promise.withResolvers<void>();
const upstream = await startUpstream(async ({ url, method }, response) => {
  const { pathname } = new URL(url, 'http://upstream');
  const file = `${directory}${pathname}.zip`;
  await (pathname.includes('/tp/') ? null : isReleased.promise);
  response.statusCode = existsSync(file) || pathname.includes('/tp/') ? 200 : 404;
  if (!existsSync(file)) return void response.end(JSON.stringify({ locations: [{ id: stop }], stopEvents: [] }));
  response.setHeader('content-type', 'application/zip').setHeader('last-modified', statSync(file).mtime.toUTCString());
  if (method === 'HEAD') return void response.end();
  createReadStream(file).pipe(response);
});
const server = await startServerProcess(
  {
    UPSTREAM_URL: upstream.url,
    UPSTREAM_API_KEY: 'made-up',
    UPSTREAM_RPS: '100',
    TIMETABLE: process.env.TIMETABLE ?? 'on',
    ...(process.env.MALLOC_ARENA_MAX && { MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX }),
  },
  { controlGroup: `${group}/tasks` },
);
/** The import's greatest resident size, and its processor time. */
const child = { peakMb: 0, cpuSeconds: 0 };
let groupMb = 0;
const watch = setInterval(lookAtProcesses, 250);

print(describeMachine());
print(`group of ${limitMb} MiB, MALLOC_ARENA_MAX=${process.env.MALLOC_ARENA_MAX ?? 'not set'}`);
try {
  const statuses: Record<string, number> = {};
  const quiet = await load(() => quietSlices++ < SLICES_BEFORE);
  const startedAt = performance.now();
  isReleased.resolve();
  let doneAt: number | null = null;
  let slicesAfter = 0;
  const during = await load(() => {
    if (doneAt === null && countImports() === IMPORTS) doneAt = performance.now();
    return server.process.exitCode === null && (doneAt === null || slicesAfter++ < SLICES_AFTER);
  });
  const seconds = ((doneAt ?? performance.now()) - startedAt) / 1000;
  for (const load of [quiet, during])
    for (const [status, n] of Object.entries(load.statuses)) statuses[status] = (statuses[status] ?? 0) + n;
  const [before, beside] = [quiet, during].map(({ latenciesMs }) => percentile(latenciesMs, 0.99)) as [number, number];
  print(
    `import: ${seconds.toFixed(0)} s, ${child.cpuSeconds.toFixed(0)} s of processor time, ${child.peakMb.toFixed(0)} MB resident at most`,
  );
  print(`group: ${groupMb.toFixed(0)} MB at most without the page cache`);
  print(`p99 of hits: ${before.toFixed(1)} ms before, ${beside.toFixed(1)} ms during the import and the swap`);
  print(
    `responses: ${Object.entries(statuses)
      .map(([status, n]) => `${n} × ${status}`)
      .join(', ')}`,
  );
  for (const { reason, files } of server.log) if (files) print(JSON.stringify({ reason, files }).slice(0, 300));
  hold('imported within 90 s', doneAt !== null && seconds <= 90);
  hold('the import takes at most 512 MB', child.peakMb <= 512);
  hold('every response is a 200', Object.keys(statuses).join() === '200');
  hold('p99 during the import is at most twice that before', beside <= 2 * before);

  async function load(isGoingOn: () => boolean) {
    const all = { latenciesMs: [] as number[], statuses: {} as Record<string, number> };
    while (isGoingOn()) {
      const request = `GET /v1/departures?stop=${stop}&modes=all HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.apiKey}\r\n\r\n`;
      const slice = await sendAtRate({
        port: Number(new URL(server.baseUrl).port),
        connections: 20,
        perSecond: PER_SECOND,
        durationMs: SLICE_MS,
        requests: [request],
      });
      all.latenciesMs.push(...slice.latenciesMs);
      for (const [status, n] of Object.entries(slice.statuses)) all.statuses[status] = (all.statuses[status] ?? 0) + n;
    }
    return all;
  }
} finally {
  clearInterval(watch);
  await server.stop('SIGKILL');
  await upstream.close();
  // The kernel takes a moment to see that the group is empty.
  await sleep(1000);
  rmdirSync(group);
}

function countImports(): number {
  return server.log.filter(({ msg }) => msg === 'schedule imported').length;
}

function lookAtProcesses(): void {
  const held = /^total_rss (\d+)$/m.exec(readFileSync(`${group}/memory.stat`, 'utf8'))?.[1];
  groupMb = Math.max(groupMb, Number(held) / 1e6);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      if (Number(stat[1]) !== server.process.pid) continue;
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      child.peakMb = Math.max(child.peakMb, Number(peak ?? 0) / 1024);
      child.cpuSeconds = Math.max(child.cpuSeconds, (Number(stat[11]) + Number(stat[12])) / 100);
    } catch {
      // The import process has ended.
    }
  }
}
