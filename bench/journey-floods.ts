import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '#src/core/clock.ts';
import { besideFlood } from './floods/client.ts';
import { openPairs } from './journeys/pairs.ts';
import { startJourneyService } from './journeys/service.ts';
import { sendAtRate } from './latency/open-loop.ts';
import { describeMachine, hold, print } from './machine.ts';
import { percentile } from './percentiles.ts';

/*
 * A Pro client with one journey search a second, alone and then beside a Free account that sends as many as it can. The service
 * imports the zips of a directory (see journeys/service.ts) and has all limits as in production; service, flood and Pro client
 * are separate processes. No search comes twice, so that none is answered from the cache.
 * `node bench/journey-floods.ts DIR [seconds of each measurement] [rounds]`
 */
const [directory = '.', seconds = '20', rounds = '3'] = process.argv.slice(2);
const durationMs = Number(seconds) * 1000;
/** Within every calendar of the schedule. */
const DAYS = 20;
const FLOOD_REQUESTS = 5000;

interface Attack {
  connections: number;
  query: (index: number) => Record<string, string>;
}

const service = await startJourneyService({ directory, stop: '200060' }, { freeKeys: 4 * Number(rounds) });
const { server } = service;
const freeKeys = [...server.freeKeys];
const requestsFile = join(tmpdir(), `transit-flood-${process.pid}.json`);
print(describeMachine());
try {
  await service.untilReady();
  const { nextPair, weekday } = openPairs(service.findTimetable(), 1, Math.floor(Date.now() / DAY_MS) + 2);
  const dateOf = (day: number) => new Date((weekday + day) * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
  const far = Array.from({ length: 2 }, () => nextPair().to).join();
  const attacks: Record<string, Attack> = {
    'rotating dates, 8 connections': {
      connections: 8,
      query: (index) => ({ ...nextPair(), date: dateOf(index % DAYS) }),
    },
    'rotating dates, 45 connections': {
      connections: 45,
      query: (index) => ({ ...nextPair(), date: dateOf(index % DAYS) }),
    },
    'one date, 45 connections': { connections: 45, query: () => ({ ...nextPair(), date: dateOf(1) }) },
    'two far `via`, 45 connections': { connections: 45, query: () => ({ ...nextPair(), via: far }) },
  };
  // The first searches start the threads.
  await listAnswered(10);
  for (const [name, { connections, query }] of Object.entries(attacks)) {
    print(`\n${name}`);
    const alone: Load[] = [];
    const beside: Load[] = [];
    for (let round = 0; round < Number(rounds); round++) {
      const freeKey = freeKeys.shift() ?? '';
      const flood = Array.from({ length: FLOOD_REQUESTS }, (_, index) => get({ ...query(index), limit: '6' }, freeKey));
      writeFileSync(requestsFile, JSON.stringify(flood));
      const ours = await listAnswered(2 * Number(seconds));
      alone.push(await measure(ours.slice(0, Number(seconds))));
      const port = Number(new URL(server.baseUrl).port);
      const { beside: measured, statuses } = await besideFlood(
        [`requests ${requestsFile}`, port, freeKey, connections],
        durationMs,
        () => measure(ours.slice(Number(seconds))),
      );
      beside.push(measured);
      print(
        `  responses to the flood ${JSON.stringify(statuses)}; to the Pro client ${JSON.stringify(measured.statuses)}`,
      );
    }
    report(alone, beside);
  }
} finally {
  rmSync(requestsFile, { force: true });
  for (const problem of new Set(
    server.log.flatMap(({ level, err, problem }) => (Number(level) >= 50 ? [err ?? problem] : [])),
  ))
    print(JSON.stringify(problem));
  await service.close();
}

type Load = Awaited<ReturnType<typeof sendAtRate>>;

/** All rounds together, because one has few searches. */
function report(alone: readonly Load[], beside: readonly Load[]): void {
  const figures = [alone, beside].map((loads) => {
    const latenciesMs = loads.flatMap((load) => load.latenciesMs);
    return [0.5, 0.95].map((share) => percentile(latenciesMs, share)) as [number, number];
  }) as [[number, number], [number, number]];
  const [before, during] = figures.map((shares) => shares.map((ms) => ms.toFixed(0)).join(' and '));
  print(`  p50 and p95 alone ${before} ms, beside it ${during} ms`);
  const found = beside.reduce((sum, { statuses }) => sum + (statuses['200'] ?? 0), 0);
  const share = found / beside.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0);
  hold(`the Pro client gets only 200s: ${(100 * share).toFixed(0)} %`, share === 1);
  const times = figures[1][1] / figures[0][1];
  hold(`its p95 is at most three times that alone: ${times.toFixed(1)} times`, times <= 3);
}

function measure(requests: readonly string[]): Promise<Load> {
  const port = Number(new URL(server.baseUrl).port);
  // The server closes connections that are idle for seconds.
  return sendAtRate({ port, connections: 3, perSecond: 1, durationMs, requests });
}

/** Searches of the Pro client that have journeys. They are tried with another limit, so that the cache does not have them. */
async function listAnswered(count: number): Promise<string[]> {
  const { nextPair } = openPairs(service.findTimetable(), Math.random() * 2 ** 31, Math.floor(Date.now() / DAY_MS) + 2);
  const answered: string[] = [];
  while (answered.length < count) {
    const pair = nextPair();
    const url = `${server.baseUrl}/v1/trips?${new URLSearchParams({ ...pair, limit: '5' })}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } });
    await response.arrayBuffer();
    if (response.ok) answered.push(get({ ...pair, limit: '6' }, server.apiKey));
  }
  return answered;
}

function get(query: Record<string, string>, key: string): string {
  return `GET /v1/trips?${new URLSearchParams(query)} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
}
