import { describe, expect, it } from 'vitest';
import { statusFailure } from '#test/support/made-up-upstream.ts';
import { createProtected } from '#test/support/protected.ts';

const HOUR_MS = 3_600_000;

describe.each([
  ['back by an hour', -HOUR_MS],
  ['back by a day', -24 * HOUR_MS],
  ['forwards by an hour', HOUR_MS],
  ['forwards by a day', 24 * HOUR_MS],
])('the protection of upstream when the clock is set %s', (_name, ms) => {
  it('responses from before the clock was set do not count as fresh', async () => {
    const { clock, upstream, send } = createProtected();
    await send();
    clock.set(clock.now() + ms);
    expect((await send()).value?.freshness?.source).toBe('upstream');
    expect(upstream.calls).toHaveLength(2);
    expect((await send()).value?.freshness?.source).toBe('cache');
  });

  it('a request that failed before the clock was set is retried', async () => {
    const { clock, upstream, send } = createProtected();
    upstream.outcome = () => statusFailure(500);
    await send();
    upstream.outcome = () => null;
    clock.set(clock.now() + ms);
    expect((await send()).error).toBeUndefined();
  });

  it('the breaker still closes within five seconds of upstream’s return after the clock was set', async () => {
    const { clock, protection, upstream, send } = createProtected();
    upstream.outcome = () => statusFailure(500);
    for (let stop = 0; stop < 5; stop++) await send(`${stop}`);
    expect(protection.state().isBreakerOpen).toBe(true);
    upstream.outcome = () => null;
    clock.set(clock.now() + ms);
    for (let second = 0; second < 5; second++) {
      await clock.advance(1000);
      await send(`after-${second}`);
    }
    expect(protection.state().isBreakerOpen).toBe(false);
  });

  it('a key paused before the clock was set is used again within a minute', async () => {
    const { clock, upstream, send } = createProtected();
    upstream.outcome = () => statusFailure(429, 300);
    await send('paused');
    upstream.outcome = () => null;
    clock.set(clock.now() + ms);
    await clock.advance(61_000);
    expect((await send('after')).error).toBeUndefined();
  });
});
