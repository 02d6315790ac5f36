import { expect, it } from 'vitest';
import type { SandboxLine } from '#src/sandbox/network/network.ts';
import type { NetworkIndex } from '#src/sandbox/network/network-index.ts';
import { indexNetwork } from '#src/sandbox/network/network-index.ts';
import { callState, cancellationOf, delaySeconds, LONGEST_DELAY_SECONDS } from '#src/sandbox/timetable/realtime.ts';
import { plannedSeconds, type Run, runAt } from '#src/sandbox/timetable/run.ts';
import { createTimetables } from '#src/sandbox/timetable/timetable.ts';
import { daily, SMALL_NETWORK } from '../small-network.ts';

const NOW = Date.parse('2026-11-18T01:00:00Z') / 1000;

function runsOf(index: NetworkIndex, days = 200): Run[] {
  const timetables = createTimetables();
  return Array.from({ length: days / 5 }, (_, i) => timetables(NOW + i * 5 * 86_400)).flatMap((timetable) =>
    index.patterns.flatMap((pattern) => {
      const list = timetable(pattern);
      return Array.from(list.starts, (_, position) => runAt(pattern, list, position));
    }),
  );
}

/** A bus with a stop every six seconds: a delay that shrinks too fast would put a call before the call before it. */
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
const kindAtStart = (run: Run) => callState(run, 0, run.startSeconds).kind;

it('estimates of a run rise from call to call, are never early at the first, and less than 25 minutes late', () => {
  const wrong = runs.filter((run) => {
    const calls = run.pattern.points.map((_, call) => call);
    const estimates = calls.map((call) => plannedSeconds(run, call) + delaySeconds(run, call));
    const isForward = estimates.every((estimate, call) => call === 0 || estimate > (estimates[call - 1] ?? 0));
    const isSane = calls.every((call) => Math.abs(delaySeconds(run, call)) < LONGEST_DELAY_SECONDS);
    return !isForward || !isSane || delaySeconds(run, 0) < 0;
  });
  expect(runs.length).toBeGreaterThan(50_000);
  expect(wrong).toEqual([]);
});

it('some runs are late, some early, some on time', () => {
  const delays = monitored.map((run) => delaySeconds(run, run.pattern.points.length - 1));
  const share = (isSuch: (delay: number) => boolean) => delays.filter(isSuch).length / delays.length;
  expect(share((delay) => delay >= 60)).toBeGreaterThan(0.3);
  expect(share((delay) => delay < 0)).toBeGreaterThan(0.05);
  expect(share((delay) => Math.abs(delay) < 60)).toBeGreaterThan(0.3);
});

it('about one in eight monitored runs never reports, one in fifty is cancelled, one in a hundred leaves out a stop', () => {
  const silent = shareOf(monitored.filter((run) => kindAtStart(run) === 'timetable'));
  expect(silent).toBeGreaterThan(0.1);
  expect(silent).toBeLessThan(0.15);
  expect(shareOf(monitored.filter((run) => cancellationOf(run) === 'trip'))).toBeCloseTo(0.02, 2);
  const through = monitored.filter((run) => run.pattern.points.length > 2);
  expect(through.filter((run) => typeof cancellationOf(run) === 'number').length / through.length).toBeCloseTo(0.01, 2);
});

it('runs of lines that are not monitored never report', () => {
  const silent = runs.filter((run) => !run.pattern.line.monitored);
  expect(silent.length).toBeGreaterThan(0);
  for (const run of silent) expect(kindAtStart(run)).toBe('timetable');
});

it('runs report at most 90 minutes and at least 60 minutes ahead, and for an hour afterwards', () => {
  for (const run of monitored.slice(0, 2000)) {
    expect(callState(run, 0, run.startSeconds - 5401).kind).toBe('timetable');
    expect(callState(run, 0, run.startSeconds - 3600).kind).toBe(kindAtStart(run));
    expect(callState(run, 0, run.startSeconds + 3601).kind).toBe('timetable');
  }
});

it('a run has the same seed in every window of the timetable', () => {
  const [pattern] = indexNetwork(SMALL_NETWORK).patterns;
  if (pattern === undefined) throw new Error('the small network has patterns');
  const seeds = (at: number) => {
    const list = createTimetables()(at)(pattern);
    return new Map(Array.from(list.starts, (start, position) => [start, runAt(pattern, list, position).seed]));
  };
  const tomorrow = seeds(NOW + 86_400);
  for (const [start, seed] of seeds(NOW)) if (tomorrow.has(start)) expect(tomorrow.get(start)).toBe(seed);
});
