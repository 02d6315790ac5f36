import { describe, expect, it } from 'vitest';
import { connectionLost, statusFailure, timeoutFailure } from '#test/support/made-up-upstream.ts';
import { createProtected, DEPARTURES, settle } from '#test/support/protected.ts';

describe('an upstream that fails', () => {
  it('an upstream call is retried once after a lost connection or a 5xx, but not after a timeout', async () => {
    for (const [failure, calls] of [
      [connectionLost(), 2],
      [statusFailure(500), 2],
      [timeoutFailure(), 1],
    ] as const) {
      const { upstream, send } = createProtected();
      upstream.outcome = () => failure;
      expect((await send()).error).toBe(failure);
      expect(upstream.calls).toHaveLength(calls);
    }
  });

  it('a background check is not retried when it fails', async () => {
    const { upstream, send } = createProtected();
    upstream.outcome = () => connectionLost();
    await send('1', 'background');
    expect(upstream.calls).toHaveLength(1);
  });

  it('a stale response, marked as such, covers an upstream failure', async () => {
    const { clock, upstream, send } = createProtected();
    const { value: first } = await send();
    upstream.outcome = () => statusFailure(500);
    await clock.advance(100_000);
    const { value } = await send();
    expect(value?.retrievedAt).toEqual(first?.retrievedAt);
    expect(value?.freshness?.shortage).toBe('failing');
  });

  it('a response older than the stale window does not cover an upstream failure', async () => {
    const { clock, upstream, send } = createProtected();
    await send();
    upstream.outcome = () => statusFailure(500);
    await clock.advance(195_001);
    expect((await send()).error).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('upstream is probed every three seconds after five failures in a row', async () => {
    const { clock, protection, upstream } = createProtected();
    upstream.outcome = () => timeoutFailure();
    for (let second = 0; second < 120; second++) {
      for (let one = 0; one < 5; one++) settle(protection.queryUpstream({ ...DEPARTURES, stopId: `${second}-${one}` }));
      await clock.advance(1000);
    }
    expect(protection.state().isBreakerOpen).toBe(true);
    expect(upstream.calls.length).toBeLessThan(60);
    expect(upstream.calls.length).toBeGreaterThan(30);
  });

  it('failures of background checks alone do not change how upstream is called', async () => {
    const { protection, clock, upstream, send } = createProtected();
    upstream.outcome = () => statusFailure(500);
    for (let one = 0; one < 8; one++) {
      settle(protection.queryUpstream({ ...DEPARTURES, stopId: `check-${one}` }, { priority: 'background' }));
      await clock.advance(1000);
    }
    expect(upstream.calls.length).toBeGreaterThanOrEqual(8);
    expect(protection.state().isBreakerOpen).toBe(false);
    upstream.outcome = () => null;
    expect((await send()).error).toBeUndefined();
  });

  it('upstream does not get the same request again within a second of a failure', async () => {
    const { clock, upstream, send } = createProtected();
    upstream.outcome = () => timeoutFailure();
    await send();
    await clock.advance(500);
    await send();
    expect(upstream.calls).toHaveLength(1);
    await clock.advance(600);
    await send();
    expect(upstream.calls).toHaveLength(2);
  });

  it('no request waits for upstream for more than ten seconds', async () => {
    const { clock, protection, upstream } = createProtected();
    upstream.latencyMs = 3_600_000;
    for (let one = 0; one < 30; one++) {
      const sent = settle(protection.queryUpstream({ ...DEPARTURES, stopId: `${one}` }));
      await clock.advance(10_000);
      expect(sent.outcome.error, `stop ${one}`).toMatchObject({ name: 'ApiError' });
    }
  });

  it('upstream has three seconds to respond if there is a stale response', async () => {
    const { clock, protection, upstream, send } = createProtected();
    await send();
    await clock.advance(20_000);
    upstream.latencyMs = 20_000;
    const first = settle(protection.queryUpstream(DEPARTURES));
    await clock.advance(3000);
    expect(first.outcome.value?.freshness).toMatchObject({ source: 'cache', shortage: 'failing' });
    const second = settle(protection.queryUpstream(DEPARTURES));
    await clock.advance(1);
    expect(second.isSettled).toBe(true);
    expect(upstream.calls).toHaveLength(2);
  });

  it('upstream gets no calls after 403 or 429 for as long as it says', async () => {
    const { clock, protection, upstream, send } = createProtected();
    upstream.outcome = () => statusFailure(429, 30);
    await send('1');
    upstream.outcome = () => undefined;
    await clock.advance(20_000);
    expect((await send('2')).error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', headers: { 'retry-after': '10' } });
    expect(upstream.calls).toHaveLength(1);
    await clock.advance(11_000);
    expect((await send('2')).value).toBeDefined();
    expect(protection.counts.rateRefusals).toBe(1);
  });

  it('an upstream that refuses calls for an hour is probed once a minute, and called normally after its first response', async () => {
    const { clock, protection, upstream, send } = createProtected();
    upstream.outcome = () => statusFailure(429, 3600);
    const sendForMinutes = async (minutes: number) => {
      const before = upstream.calls.length;
      for (let second = 0; second < minutes * 60; second++) {
        for (let one = 0; one < 3; one++)
          settle(protection.queryUpstream({ ...DEPARTURES, stopId: `${clock.now()}${one}` }));
        await clock.advance(1000);
      }
      return upstream.calls.length - before;
    };
    await send('1');
    expect((await send('2')).error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', headers: { 'retry-after': '60' } });
    expect(await sendForMinutes(10)).toBeLessThanOrEqual(10);
    expect(upstream.calls.length).toBeGreaterThan(9);

    upstream.outcome = () => undefined;
    await sendForMinutes(1);
    expect(await sendForMinutes(1)).toBeGreaterThan(150);
  });

  it('upstream gets no calls after a refusal even if an earlier call succeeds later', async () => {
    const { clock, protection, upstream } = createProtected();
    upstream.outcome = (request) => ((request as { stopId: string }).stopId === '1' ? statusFailure(429, 600) : null);
    settle(protection.queryUpstream({ ...DEPARTURES, stopId: '1' }));
    await clock.advance(100);
    settle(protection.queryUpstream({ ...DEPARTURES, stopId: '2' }));
    await clock.advance(1000);
    for (let second = 0; second < 50; second++) {
      settle(protection.queryUpstream({ ...DEPARTURES, stopId: `later ${second}` }));
      await clock.advance(1000);
    }
    expect(upstream.calls).toHaveLength(2);
  });

  it('upstream is called with the other key when it refuses one, which is probed once a minute', async () => {
    const { clock, upstream, upstreams, send } = createProtected({ keys: 2 });
    upstream.outcome = () => statusFailure(429, 3600);
    for (let second = 0; second < 180; second++) {
      expect((await send(`${second}`)).value).toBeDefined();
      await clock.advance(1000);
    }
    expect(upstreams[0]?.calls.length).toBeGreaterThan(1);
    expect(upstreams[0]?.calls.length).toBeLessThanOrEqual(5);
  });

  it('an upstream that refuses our key raises an alarm, and the other key is used', async () => {
    const { protection, upstream, upstreams, log, send } = createProtected({ keys: 2 });
    upstream.outcome = () => statusFailure(401);
    for (const stop of ['1', '2', '3', '4']) expect((await send(stop)).value).toBeDefined();
    expect(protection.counts.keysRefused).toBe(1);
    expect(upstreams.map(({ calls }) => calls.length)).toEqual([1, 4]);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('the log reports when the breaker opens and when it closes', async () => {
    const { protection, upstream, log, clock, send } = createProtected();
    upstream.outcome = () => statusFailure(500);
    for (let stop = 0; !protection.state().isBreakerOpen; stop++) await send(`${stop}`);
    upstream.outcome = () => undefined;
    for (let stop = 0; protection.state().isBreakerOpen; stop++) {
      await clock.advance(3000);
      await send(`later ${stop}`);
    }
    expect(log.lines).toEqual([
      { level: 'warn', message: 'upstream fails: circuit breaker opened' },
      { level: 'info', message: 'upstream responds again: circuit breaker closed' },
    ]);
  });

  for (const [name, outcome, latencyMs] of [
    ['dead', connectionLost(), 5],
    ['hanging', undefined, 3_600_000],
    ['slow (20 s)', undefined, 20_000],
    ['answering 500', statusFailure(500), 50],
    ['answering 403 over rate', statusFailure(403, 3), 50],
  ] as const) {
    it(`an upstream that is ${name} for two minutes under steady load makes responses stale, and only briefly`, async () => {
      const { clock, protection, upstream } = createProtected();
      const stops = ['1', '2', '3', '4', '5', '6', '7', '8'];
      let down = false;
      const healthy = upstream.latencyMs;
      const sendAll = () => stops.map((stopId) => settle(protection.queryUpstream({ ...DEPARTURES, stopId })));

      for (let second = 0; second < 40; second++) {
        sendAll();
        await clock.advance(1000);
      }
      down = true;
      upstream.outcome = () => (down ? outcome : undefined);
      upstream.latencyMs = latencyMs;
      const during = [];
      for (let second = 0; second < 120; second++) {
        during.push(...sendAll());
        during.push(settle(protection.queryUpstream({ ...DEPARTURES, stopId: `new ${second}` })));
        await clock.advance(1000);
      }
      down = false;
      upstream.latencyMs = healthy;
      const upAt = clock.now();
      for (let half = 0; half < 10; half++) {
        sendAll();
        await clock.advance(500);
      }
      const after = sendAll();
      await clock.advance(500);
      expect(clock.now() - upAt).toBeLessThanOrEqual(5500);

      const known = during.filter((_, index) => index % 9 !== 8);
      expect(known.filter(({ outcome }) => !outcome.value)).toEqual([]);
      for (const { outcome } of after) {
        expect(outcome.value?.freshness?.shortage).toBeNull();
        expect(outcome.value?.freshness?.retrievedAt).toBeGreaterThan(upAt);
      }
    });
  }
});
