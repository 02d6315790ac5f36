import { beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '#src/clock.ts';
import type { Ask, AskOptions } from '#src/efa/ask.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { CheckQueue } from '#src/nearby/check-queue.ts';
import { checkInBackground, Verdicts } from '#src/nearby/verdict.ts';
import { toPayload } from '#test/support/departure-pages.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { createSimulatedClock, type SimulatedClock } from '#test/support/simulated-clock.ts';

const ALIVE = toPayload([{ minute: 1 }]);
const failure = new ApiError('UPSTREAM_UNAVAILABLE', 'no calls to spare');

let clock: SimulatedClock;
let verdicts: Verdicts;
let queue: CheckQueue;
let log: ReturnType<typeof createTestLog>;
let asked: { stopId: string; options: AskOptions | undefined }[];
/** Makes the authority's response, or throws the error. */
let response: () => unknown;
let running: number;
let mostAtOnce: number;

beforeEach(() => {
  clock = createSimulatedClock('2026-04-15T06:25:30Z');
  const now = () => new Date(clock.now());
  verdicts = new Verdicts(now);
  log = createTestLog();
  asked = [];
  response = () => ALIVE;
  running = 0;
  mostAtOnce = 0;
  const ask = (async ({ stopId }: { stopId: string }, options?: AskOptions) => {
    asked.push({ stopId, options });
    mostAtOnce = Math.max(mostAtOnce, ++running);
    await sleep(clock, 300);
    running--;
    const outcome = response();
    if (outcome instanceof Error) throw outcome;
    return { payload: outcome, retrievedAt: now() };
  }) as unknown as Ask;
  const isCharged = (accounts: ReadonlySet<string>) => accounts.has('in debt');
  const check = checkInBackground(verdicts, now);
  queue = new CheckQueue({ ask, check, isCharged, log, sleep: (ms) => sleep(clock, ms) });
});

const stopsAsked = () => asked.map(({ stopId }) => stopId);

describe('stops that were not checked', () => {
  it('are checked one after the other, at the lowest priority, and learnt', async () => {
    queue.add(['200001', '200002', '200003']);
    await clock.advance(10_000);
    expect(stopsAsked()).toEqual(['200001', '200002', '200003']);
    expect(mostAtOnce).toBe(1);
    expect(asked.every(({ options }) => options?.priority === 'background')).toBe(true);
    expect(verdicts.find('200003')).toMatchObject({ isAlive: true });
  });

  it('are checked for the accounts that asked, unless these would have to pay for it', async () => {
    queue.add(['200001'], new Set(['somebody']));
    queue.add(['200002'], new Set(['in debt']));
    await clock.advance(10_000);
    expect(stopsAsked()).toEqual(['200001']);
    expect(asked[0]?.options?.accounts).toEqual(new Set(['somebody']));
  });

  it('are checked once, however often they are added', async () => {
    queue.add(['200001', '200002']);
    await clock.advance(1100);
    for (let time = 0; time < 10; time++) queue.add(['200002', '200001']);
    await clock.advance(10_000);
    queue.add(['200001', '200002']);
    await clock.advance(10_000);
    expect(stopsAsked()).toEqual(['200001', '200002']);
  });

  it('are not checked when they have become known meanwhile', async () => {
    queue.add(['200001']);
    verdicts.learn('200001', { isAlive: true, modes: [] });
    await clock.advance(10_000);
    expect(asked).toEqual([]);
  });

  it('wait for half a minute when there is no call to spare, and are not forgotten', async () => {
    response = () => failure;
    queue.add(['200001', '200002']);
    await clock.advance(29_000);
    expect(stopsAsked()).toEqual(['200001']);
    response = () => ALIVE;
    await clock.advance(10_000);
    expect(stopsAsked()).toEqual(['200001', '200001', '200002']);
  });

  it('are given up, and the others wait, when the authority fails', async () => {
    response = () => new ApiError('UPSTREAM_ERROR', 'nonsense');
    queue.add(['200001', '200002']);
    await clock.advance(29_000);
    expect(stopsAsked()).toEqual(['200001']);
    await clock.advance(120_000);
    expect(stopsAsked()).toEqual(['200001', '200002']);
  });

  it('are given up when the authority does not say what stops there', async () => {
    response = () => ({ ...toPayload([]), locations: [] });
    queue.add(['200001']);
    await clock.advance(60_000);
    expect(stopsAsked()).toEqual(['200001']);
  });

  it('are at most a thousand', async () => {
    queue.add(Array.from({ length: 1500 }, (_, index) => String(200_000 + index)));
    await clock.advance(3_600_000);
    expect(asked).toHaveLength(1000);
  });

  it('are given up with a line in the log when the check meets a bug', async () => {
    response = () => new TypeError('ours');
    queue.add(['200001', '200002']);
    await clock.advance(60_000);
    expect(log.lines.map(({ level }) => level)).toEqual(['error', 'error']);
    expect(stopsAsked()).toEqual(['200001', '200002']);
  });

  it('are not checked any more once the queue is closed', async () => {
    queue.add(['200001', '200002']);
    await clock.advance(1100);
    queue.close();
    queue.add(['200003']);
    await clock.advance(60_000);
    expect(stopsAsked()).toEqual(['200001']);
  });
});
