import { describe, expect, it } from 'vitest';
import { BudgetExhaustedError } from '#src/upstream/budget/budget.ts';
import { connectionLost, statusFailure } from '#test/support/made-up-upstream.ts';
import { createProtected, settle } from '#test/support/protected.ts';

const fail = (error: Error) => () => Promise.reject(error);

describe('the poll of a feed', () => {
  it('a feed poll counts as an upstream call and against the same rate', async () => {
    const { protection, clock, send, upstream } = createProtected();
    const polls = Array.from({ length: 5 }, () => protection.callForFeed(async () => clock.now()));
    expect(await Promise.all(polls)).toHaveLength(5);
    const began = clock.now();
    await send();
    expect(protection.counts.calls).toBe(6);
    expect((upstream.calls[0] ?? 0) - began).toBeGreaterThanOrEqual(1000);
  });

  it('a failing feed poll does not open the circuit breaker, and feeds are polled while it is open', async () => {
    const { protection, send, upstream } = createProtected({ limits: { rps: 100, dailyBudget: 1e9 } });
    for (let poll = 0; poll < 10; poll++) {
      await expect(protection.callForFeed(fail(connectionLost()))).rejects.toThrow();
    }
    expect(protection.state().isBreakerOpen).toBe(false);
    upstream.outcome = () => connectionLost();
    for (let stop = 0; stop < 5; stop++) await send(`20000${stop}`);
    expect(protection.state().isBreakerOpen).toBe(true);
    expect(await protection.callForFeed(async () => 'made')).toBe('made');
  });

  it('a feed poll closes the key for all calls when its quota is exceeded', async () => {
    const { protection, send } = createProtected();
    await expect(protection.callForFeed(fail(statusFailure(429, 60)))).rejects.toThrow();
    expect(protection.counts.rateRefusals).toBe(1);
    expect((await send()).error).toBeInstanceOf(BudgetExhaustedError);
  });

  it('a poll for positions is refused before anything that a caller waits for', async () => {
    const { protection, clock, send } = createProtected({ limits: { rps: 1000, dailyBudget: 4800 } });
    const pollPositions = async () => {
      const poll = settle(protection.callForFeed(async () => 'made', 'background'));
      await clock.advance(1);
      return poll.outcome.value === 'made';
    };
    let sent = 0;
    for (; await pollPositions(); sent++) await send(`${200_000 + sent}`, 'low');
    expect(sent).toBeGreaterThan(10);
    expect((await send('board', 'low')).error).toBeUndefined();
    expect(protection.state().shortage).toBeNull();
  });

  it('a feed poll is refused only when the whole day is used, after all requests', async () => {
    const { protection, clock, send } = createProtected({ limits: { rps: 1000, dailyBudget: 480 } });
    let sent = 0;
    while (!(await send(`${200_000 + sent}`, 'high')).error) sent++;
    let polled = 0;
    for (let isLeft = true; isLeft && polled < 480; polled += isLeft ? 1 : 0) {
      const poll = settle(protection.callForFeed(async () => 'made'));
      await clock.advance(1);
      isLeft = poll.outcome.value === 'made';
    }
    expect(sent).toBeGreaterThan(10);
    expect(polled).toBeGreaterThan(0);
    expect(polled).toBeLessThan(480);
    expect(protection.state().callsLeft).toEqual([0]);
  });
});
