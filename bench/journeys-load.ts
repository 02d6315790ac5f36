import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS } from '#src/core/clock.ts';
import { openPairs } from './journeys/pairs.ts';
import { startJourneyService } from './journeys/service.ts';
import { sendAtRate } from './latency/open-loop.ts';
import { describeMachine, hold, print } from './machine.ts';
import { percentile } from './percentiles.ts';

/*
 * The service (see journeys/service.ts) in a Linux memory control group. A client reads a cached board, first alone for 30
 * seconds, then while another client plans journeys from the timetable. No pair of places repeats, and feeds do not cover the
 * requested day. For root: `MALLOC_ARENA_MAX=1 node bench/journeys-load.ts DIR [minutes] [megabytes of the group] [journeys a
 * second] [hits a second] [STOP]`
 */
const [directory = '.', minutes = '10', limitMb = '768', perSecond = '40', hits = '100', stop = '200060'] =
  process.argv.slice(2);
const MEGABYTE = 2 ** 20;
const QUIET_MS = 30_000;
const durationMs = Number(minutes) * 60_000;
const group = `/sys/fs/cgroup/memory/transit-bench-${process.pid}`;

mkdirSync(group);
writeFileSync(`${group}/memory.limit_in_bytes`, String(Number(limitMb) * MEGABYTE));
const service = await startJourneyService(
  {
    directory,
    stop,
    env: process.env.MALLOC_ARENA_MAX ? { MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX } : {},
  },
  { controlGroup: `${group}/tasks` },
);
const { server } = service;
let groupMb = 0;
const watch = setInterval(() => {
  const held = /^total_rss (\d+)$/m.exec(readFileSync(`${group}/memory.stat`, 'utf8'))?.[1];
  groupMb = Math.max(groupMb, Number(held) / MEGABYTE);
}, 250);

print(describeMachine());
print(`group of ${limitMb} MiB, MALLOC_ARENA_MAX=${process.env.MALLOC_ARENA_MAX ?? 'not set'}\n`);
try {
  await service.untilReady();
  report('import');
  const { nextPair } = openPairs(service.findTimetable(), 1, Math.floor(Date.now() / DAY_MS) + 2);
  const plan = () => get(`/v1/trips?${new URLSearchParams({ ...nextPair(), limit: '6' })}`);
  const board = [get(`/v1/departures?stop=${stop}&modes=all`)];
  // The first journeys start the threads.
  await send(2, 10_000, plan);
  report('warm-up');
  const alone = await send(Number(hits), QUIET_MS, () => board[0] as string);
  report('hits alone', alone);
  const [beside, journeys] = await Promise.all([
    send(Number(hits), durationMs, () => board[0] as string),
    send(Number(perSecond), durationMs, plan),
  ]);
  report('hits with journeys', beside);
  report(`${perSecond} journeys a second`, journeys);
  const [before, during] = [alone, beside].map(({ latenciesMs }) => percentile(latenciesMs, 0.99)) as [number, number];
  const refused = Object.keys(journeys.statuses).filter((status) => status !== '200' && status !== '404');
  hold('the process survives', server.process.exitCode === null && server.process.signalCode === null);
  hold('no journey is refused', refused.length === 0);
  hold('every hit is a 200', Object.keys(beside.statuses).join() === '200');
  hold('p99 of hits during journeys is at most twice that before', during <= 2 * before);
} finally {
  clearInterval(watch);
  for (const reason of new Set(server.log.map(({ reason, err }) => reason ?? (err as Error | undefined)?.message)))
    if (reason) print(String(reason));
  await service.close();
  // The kernel takes a moment to see that the group is empty.
  await sleep(1000);
  rmdirSync(group);
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.apiKey}\r\n\r\n`;
}

function send(rate: number, forMs: number, next: () => string) {
  const requests = Array.from({ length: Math.ceil((rate * forMs) / 1000) }, next);
  // More connections than there may be waiting searches. The server closes those idle for seconds.
  const port = Number(new URL(server.baseUrl).port);
  return sendAtRate({ port, connections: Math.min(60, rate * 3), perSecond: rate, durationMs: forMs, requests });
}

function report(name: string, load?: Awaited<ReturnType<typeof sendAtRate>>): void {
  const shares = load ? [0.5, 0.95, 0.99].map((share) => percentile(load.latenciesMs, share).toFixed(1)) : [];
  const statuses = Object.entries(load?.statuses ?? {}).map(([status, n]) => `${n} × ${status}`);
  const figures = load ? `p50 / p95 / p99 ${shares.join(' / ')} ms, ${statuses.join(', ')}; ` : '';
  print(`${name.padEnd(24)}${figures}group ${groupMb.toFixed(0)} MB at most`);
}
