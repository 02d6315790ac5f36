import { expect, it } from 'vitest';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import type { SandboxLine } from '#sandbox/network/network.ts';
import type { NetworkIndex } from '#sandbox/network/network-index.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import {
  actualPoint,
  callState,
  cancellationOf,
  delaySeconds,
  expectedDelaySeconds,
  MAX_DELAY_SECONDS,
} from '#sandbox/timetable/realtime.ts';
import { plannedSeconds, type Run } from '#sandbox/timetable/run.ts';
import { timetableAround } from '#sandbox/timetable/timetable.ts';
import { daily, SMALL_NETWORK } from '../small-network.ts';

const NOW = Date.parse('2026-11-18T01:00:00Z') / 1000;

function runsOf(index: NetworkIndex, days = 200): Run[] {
  return Array.from({ length: days / 5 }, (_, i) => timetableAround(NOW + i * 5 * 86_400)).flatMap((timetable) =>
    index.patterns.flatMap(timetable),
  );
}

/** A bus with a stop every six seconds: a delay that shrinks too fast would reverse the order of calls. */
const HURRIED: SandboxLine = {
  id: 'nsw:30099',
  route: '99',
  number: '99',
  product: { id: 5, class: 5, name: 'Sydney Buses Network' },
  operator: 'Alder Buses',
  description: 'Round the block',
  monitored: true,
  patterns: [
    {
      headsign: 'Round the block',
      direction: 0,
      wheelchairAccessible: null,
      calls: Array.from({ length: 30 }, (_, i) => ({ point: i % 2 === 0 ? '2004001' : '2004002', minutes: i / 10 })),
      services: [daily(0, 23 * 60 + 50, 10)],
    },
  ],
};

const runs = runsOf(indexNetwork({ ...SMALL_NETWORK, lines: [...SMALL_NETWORK.lines, HURRIED] }));
const monitored = runs.filter((run) => run.pattern.line.monitored);
const shareOf = (part: Run[]) => part.length / monitored.length;
const isBus = (run: Run) => run.pattern.line.product.class === 5;
const kindAtStart = (run: Run) => callState(run, 0, run.startSeconds).kind;

it('estimates of a sandbox run increase from call to call, never early at the first, at most 25 minutes late', () => {
  const wrong = runs.filter((run) => {
    const calls = run.pattern.points.map((_, call) => call);
    const estimates = calls.map((call) => plannedSeconds(run, call) + delaySeconds(run, call));
    const isForward = estimates.every((estimate, call) => call === 0 || estimate > (estimates[call - 1] ?? 0));
    const isSane = calls.every((call) => Math.abs(delaySeconds(run, call)) < MAX_DELAY_SECONDS);
    return !isForward || !isSane || delaySeconds(run, 0) < 0;
  });
  expect(runs.length).toBeGreaterThan(50_000);
  expect(wrong).toEqual([]);
});

it('sandbox runs are late, early and on time', () => {
  const delays = monitored.map((run) => delaySeconds(run, run.pattern.points.length - 1));
  const share = (isSuch: (delay: number) => boolean) => delays.filter(isSuch).length / delays.length;
  expect(share((delay) => delay >= 60)).toBeGreaterThan(0.3);
  expect(share((delay) => delay < 0)).toBeGreaterThan(0.05);
  expect(share((delay) => Math.abs(delay) < 60)).toBeGreaterThan(0.3);
});

it('about one in eight monitored sandbox runs never reports, one in fifty is cancelled, one in a hundred skips a stop', () => {
  const silent = shareOf(monitored.filter((run) => kindAtStart(run) === 'timetable'));
  expect(silent).toBeGreaterThan(0.1);
  expect(silent).toBeLessThan(0.15);
  expect(shareOf(monitored.filter((run) => cancellationOf(run) === 'trip'))).toBeCloseTo(0.02, 2);
  const through = monitored.filter((run) => run.pattern.points.length > 2);
  expect(through.filter((run) => typeof cancellationOf(run) === 'number').length / through.length).toBeCloseTo(0.01, 2);
});

it('sandbox runs of unmonitored lines never report', () => {
  const silent = runs.filter((run) => !run.pattern.line.monitored);
  expect(silent.length).toBeGreaterThan(0);
  for (const run of silent) expect(kindAtStart(run)).toBe('timetable');
});

it('sandbox runs report from 60 to 70 minutes ahead until an hour afterwards', () => {
  for (const run of monitored.slice(0, 2000)) {
    expect(callState(run, 0, run.startSeconds - 4201).kind).toBe('timetable');
    if (!isBus(run)) expect(callState(run, 0, run.startSeconds - 3600).kind).toBe(kindAtStart(run));
    expect(callState(run, 0, run.startSeconds + 3601).kind).toBe('timetable');
  }
});

it('sandbox buses are tracked from some time within the hour before they start', () => {
  const tracked = monitored.filter((run) => isBus(run) && kindAtStart(run) === 'live');
  const isLiveAhead = (run: Run, seconds: number) => callState(run, 0, run.startSeconds - seconds).kind === 'live';
  const half = tracked.filter((run) => isLiveAhead(run, 1800)).length / tracked.length;
  expect(half).toBeCloseTo(0.5, 1);
  expect(tracked.filter((run) => isLiveAhead(run, 3600))).toEqual([]);
});

it('sandbox estimates change on the way, always increase from call to call, and are right five minutes ahead', () => {
  const some = runs.filter((_, i) => i % 150 === 0);
  const estimatesAt = (run: Run, now: number) =>
    run.pattern.points.map((_, call) => plannedSeconds(run, call) + expectedDelaySeconds(run, call, now));
  const momentsOf = (run: Run) => run.pattern.points.map((_, call) => plannedSeconds(run, call) - 300);
  const wrong = some.filter((run) =>
    momentsOf(run).some((now) => {
      const estimates = estimatesAt(run, now);
      const isRight = (estimate: number, call: number) =>
        plannedSeconds(run, call) > now + 300 || estimate === plannedSeconds(run, call) + delaySeconds(run, call);
      const isForward = estimates.every((estimate, call) => call === 0 || estimate > (estimates[call - 1] ?? 0));
      return !isForward || !estimates.every(isRight);
    }),
  );
  const lastEstimates = (run: Run) => new Set(momentsOf(run).map((now) => estimatesAt(run, now).at(-1)));
  expect(wrong).toEqual([]);
  expect(some.filter((run) => lastEstimates(run).size > 1).length).toBeGreaterThan(some.length / 10);
});

it('a moved sandbox vehicle calls at another point of the same stop that its mode uses', () => {
  const index = indexNetwork(loadNetwork());
  const moved = runsOf(index, 5)
    .slice(0, 60_000)
    .flatMap((run) => run.pattern.points.map((planned, call) => ({ run, planned, point: actualPoint(run, call) })))
    .filter(({ planned, point }) => planned !== point);
  for (const { run, planned, point } of moved) {
    expect(point.home).toBe(planned.home);
    expect(point.calls.map(({ pattern }) => pattern.line.product.class)).toContain(run.pattern.line.product.class);
  }
  expect(new Set(moved.map(({ run }) => run.pattern.line.product.class))).toEqual(new Set([1, 9]));
});

it('a sandbox run has the same seed in every window of the timetable', () => {
  const [pattern] = indexNetwork(SMALL_NETWORK).patterns;
  if (pattern === undefined) throw new Error('the small network has patterns');
  const seeds = (at: number) => {
    return new Map(timetableAround(at)(pattern).map(({ startSeconds, seed }) => [startSeconds, seed]));
  };
  const tomorrow = seeds(NOW + 86_400);
  const inBoth = [...seeds(NOW)].filter(([start]) => tomorrow.has(start));
  expect(inBoth.length).toBeGreaterThan(100);
  expect(inBoth.map(([start]) => tomorrow.get(start))).toEqual(inBoth.map(([, seed]) => seed));
});
