import { describe, expect, it } from 'vitest';
import { sleep } from '#src/core/clock.ts';
import type { Priority } from '#src/core/turn-queue.ts';
import { type Meter, ProcessMeter } from '#src/upstream/budget/meter.ts';
import { createProtected, DEPARTURES, settle } from '#test/support/protected.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';

const SECOND = 1000;
const MODEST = Array.from({ length: 9 }, (_, index) => `modest-${index}`);

/** A service with requests of several accounts, each for another stop unless one is given. */
function createRequests(options: Parameters<typeof createProtected>[0] = {}) {
  const made = createProtected(options);
  let requests = 0;
  const sendAs = (account: string, priority: Priority = 'low', stopId = String(++requests)) =>
    settle(made.protection.queryUpstream({ ...DEPARTURES, stopId }, { priority, accounts: new Set([account]) }));
  return { ...made, sendAs };
}

/**
 * Returns how many requests of each modest account are answered. Each makes one per `everyMs`; the greedy account has 24
 * requests open at the beginning of every step.
 */
async function answeredOf(
  accounts: readonly string[],
  options: { everyMs: number; durationMs: number; stepMs: number; isGreedyThere: boolean },
): Promise<Map<string, number>> {
  const { clock, sendAs } = createRequests();
  const sent = new Map(accounts.map((account) => [account, [] as ReturnType<typeof sendAs>[]]));
  let greedy: ReturnType<typeof sendAs>[] = [];
  for (let elapsed = 0; elapsed < options.durationMs; elapsed += options.stepMs) {
    if (options.isGreedyThere) {
      greedy = greedy.filter(({ isSettled }) => !isSettled);
      while (greedy.length < 24) greedy.push(sendAs('greedy'));
    }
    for (const [index, account] of accounts.entries()) {
      const isDue = (elapsed + index * 2000) % options.everyMs === 0;
      if (isDue) sent.get(account)?.push(sendAs(account));
    }
    await clock.advance(options.stepMs);
  }
  await clock.advance(3 * SECOND);
  return new Map([...sent].map(([account, all]) => [account, all.filter(({ outcome }) => outcome.value).length]));
}

describe('nine modest accounts while another one floods', () => {
  it.each([
    ['while calls are limited by the second', { everyMs: 3 * SECOND, durationMs: 90 * SECOND, stepMs: 100 }],
    ['while calls are limited by the day', { everyMs: 20 * SECOND, durationMs: 1200 * SECOND, stepMs: 1000 }],
  ])(
    'each of nine modest accounts gets at least 90 percent of its share alone while another one floods, %s',
    async (_name, load) => {
      const together = await answeredOf(MODEST, { ...load, isGreedyThere: true });
      const alone = (await answeredOf(['modest-0'], { ...load, isGreedyThere: false })).get('modest-0') ?? 0;
      expect(alone).toBeGreaterThan(25);
      for (const answered of together.values()) expect(answered).toBeGreaterThanOrEqual(0.9 * alone);
    },
  );
});

describe('five calls a second, the default, with an upstream that takes five seconds', () => {
  /** These accounts send five requests every tenth of a second for ten seconds; another account and a feed one a second. */
  async function flood(priority: Priority, names: readonly string[]) {
    const { clock, protection, upstream, sendAs } = createRequests();
    upstream.latencyMs = 5 * SECOND;
    const flooding: ReturnType<typeof sendAs>[] = [];
    const other: typeof flooding = [];
    const pollWaits: number[] = [];
    for (let step = 0; step < 100; step++) {
      for (let one = 0; one < 5; one++)
        flooding.push(sendAs(names[(5 * step + one) % names.length] as string, priority));
      if (step % 10 === 5) {
        const queuedAt = clock.now();
        other.push(sendAs('other', priority));
        settle(protection.callForFeed(async () => void pollWaits.push(clock.now() - queuedAt)));
      }
      await clock.advance(100);
    }
    await clock.advance(10 * SECOND);
    const errorsOf = (sent: typeof other) => sent.flatMap(({ outcome }) => (outcome.error ? [outcome.error] : []));
    return { refused: errorsOf(flooding), refusedOthers: errorsOf(other), pollWaits };
  }

  it.each(['low', 'normal', 'high'] as const)(
    'an account of priority %s that floods gets its own requests refused, while the calls of others continue',
    async (priority) => {
      const { refused, refusedOthers } = await flood(priority, ['flooding']);
      expect(refused.length).toBeGreaterThan(400);
      for (const error of refused) {
        expect(error).toMatchObject({
          code: 'UPSTREAM_UNAVAILABLE',
          headers: { 'retry-after': expect.any(String) },
          unavailable: expect.stringMatching(/^(account|rate)$/),
        });
      }
      expect(refusedOthers).toEqual([]);
    },
  );

  it('feeds are polled at the next free call, however many accounts of the highest plan flood', async () => {
    const { pollWaits } = await flood('high', MODEST.concat(MODEST.map((name) => `${name} too`)));
    expect(pollWaits).toHaveLength(10);
    expect(Math.max(...pollWaits)).toBeLessThanOrEqual(1100);
  });
});

describe('the queue for calls', () => {
  /** A service whose five calls of this second are used up. */
  async function createBusy() {
    const made = createRequests();
    const order: string[] = [];
    for (let one = 0; one < 5; one++) made.sendAs(`earlier ${one}`);
    await made.clock.advance(500);
    made.upstream.outcome = (request) => void order.push((request as { stopId: string }).stopId);
    return { ...made, order };
  }

  it('the call queue is round-robin by account within a priority', async () => {
    const { clock, sendAs, order } = await createBusy();
    for (const name of ['a1', 'a2', 'b1', 'b2', 'c1']) sendAs(name.slice(0, 1), 'low', name);
    await clock.advance(2 * SECOND);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
  });

  it('the call queue serves a higher priority first, even for an account that was just served', async () => {
    const { clock, sendAs, order } = await createBusy();
    sendAs('free', 'low', 'free 1');
    for (const name of ['pro 1', 'pro 2', 'pro 3']) sendAs('pro', 'high', name);
    await clock.advance(2 * SECOND);
    expect(order).toEqual(['pro 1', 'pro 2', 'pro 3', 'free 1']);
  });

  it('the call queue serves the account first that was served least recently', async () => {
    const { clock, sendAs, order } = await createBusy();
    sendAs('earlier 4', 'low', 'served last');
    sendAs('earlier 0', 'low', 'served first');
    await clock.advance(2 * SECOND);
    expect(order).toEqual(['served first', 'served last']);
  });

  it.each([
    ['low', 2],
    ['normal', 8],
    ['high', 32],
  ] as const)('the call queue holds this many requests of one account with priority %s: %i', async (priority, room) => {
    const { clock, protection, sendAs } = createRequests({ limits: { rps: 50, dailyBudget: 60_000 } });
    for (let one = 0; one < 50; one++) sendAs(`earlier ${one}`);
    await clock.advance(500);
    const sent = Array.from({ length: 40 }, () => sendAs('greedy', priority));
    const other = sendAs('modest', priority);
    await clock.advance(1);
    expect(sent.map(({ isSettled }) => isSettled)).toEqual(sent.map((_, index) => index >= room));
    expect(sent.at(-1)?.outcome.error).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      headers: { 'retry-after': '3' },
      unavailable: 'account',
    });
    expect(other.isSettled).toBe(false);
    expect(protection.state().waiting).toBe(room + 1);
  });

  it('the call queue refuses no account while there are spare calls', async () => {
    const { clock, sendAs } = createRequests();
    const sent = Array.from({ length: 5 }, () => sendAs('free'));
    await clock.advance(SECOND);
    expect(sent.filter(({ outcome }) => outcome.value)).toHaveLength(5);
  });

  it('the call queue drops a request that nobody waits for any more, and no call is made for it', async () => {
    const { clock, protection, order } = await createBusy();
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const send = (stopId: string, { signal }: AbortController) =>
      settle(protection.queryUpstream({ ...DEPARTURES, stopId }, { accounts: new Set(['a']), signal }));
    const left = send('left by all', first);
    send('left by one', second);
    const stays = send('left by one', third);
    await clock.advance(1);
    first.abort();
    second.abort();
    await clock.advance(2 * SECOND);
    // It had no call, so it is refunded like every 503.
    expect(left.outcome.error).toMatchObject({ statusCode: 503 });
    expect(stays.outcome.value).toBeDefined();
    expect(order).toEqual(['left by one']);
  });

  it('the call queue gives a request of several accounts their best position', async () => {
    const { clock, sendAs, order } = await createBusy();
    for (const name of ['g1', 'g2', 'shared']) sendAs('greedy', 'normal', name);
    await clock.advance(1);
    const shared = sendAs('modest', 'normal', 'shared');
    await clock.advance(2 * SECOND);
    expect(shared.outcome.value).toBeDefined();
    expect(order).toEqual(['g1', 'shared', 'g2']);
  });

  it('a full call queue refuses the account that was served last', async () => {
    const { clock, sendAs } = createRequests();
    sendAs('busy');
    await clock.advance(2 * SECOND);
    sendAs('busy');
    for (let one = 0; one < 4; one++) sendAs(`earlier ${one}`);
    await clock.advance(1);
    const busy = sendAs('busy');
    const others = Array.from({ length: 15 }, (_, index) => sendAs(`other ${index}`));
    await clock.advance(1);
    await clock.advance(1);
    expect(busy.outcome.error).toMatchObject({ unavailable: 'rate' });
    expect(others.filter(({ isSettled }) => isSettled)).toEqual([]);
  });
});

describe('calls taken from a store 300 ms away', () => {
  /** A meter in the process grants each call, halfway through the round trip. */
  function createFar() {
    const clock = createSimulatedClock('2026-04-15T12:00:00Z');
    const near = new ProcessMeter({ rps: 5, dailyBudget: 60_000 }, clock.now);
    const takes = { open: 0, most: 0 };
    const far: Meter = {
      async spend(priority) {
        takes.most = Math.max(takes.most, ++takes.open);
        await sleep(clock, 150);
        const result = near.spend(priority);
        await sleep(clock, 150);
        takes.open--;
        return result;
      },
      pause: (ms) => near.pause(ms),
      spent: () => near.spent(),
    };
    const made = createRequests({ clock, meters: [far] });
    const order: string[] = [];
    made.upstream.outcome = (request) => void order.push((request as { stopId: string }).stopId);
    return { ...made, clock, order, takes };
  }

  it('five calls are taken from a distant store concurrently, round-robin by account', async () => {
    const { clock, sendAs, order, takes } = createFar();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'c2']) sendAs(name.slice(0, 1), 'normal', name);
    await clock.advance(SECOND);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
    await clock.advance(2 * SECOND);
    expect(order.slice(5)).toEqual(['c2', 'a3']);
    expect(takes.most).toBe(5);
  });

  it('a request of higher priority gets the first call even if it arrives while calls are taken', async () => {
    const { clock, sendAs, order } = createFar();
    for (let one = 0; one < 5; one++) sendAs(`free ${one}`, 'low', `free ${one}`);
    await clock.advance(200);
    sendAs('pro', 'high', 'pro');
    await clock.advance(2 * SECOND);
    expect(order).toEqual(['pro', 'free 0', 'free 1', 'free 2', 'free 3', 'free 4']);
  });
});
