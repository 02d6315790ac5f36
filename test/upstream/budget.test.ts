import { describe, expect, it } from 'vitest';
import type { Priority } from '#src/core/turn-queue.ts';
import { ProcessMeter } from '#src/upstream/budget/meter.ts';
import { statusFailure } from '#test/support/made-up-upstream.ts';
import { createProtected, DEPARTURES, settle } from '#test/support/protected.ts';

const HOUR = 3_600_000;

/** Makes four new requests a second until ten in a row are refused, and returns how many were answered. */
async function spendAll(clock: { advance(ms: number): Promise<void> }, send: (stopId: string) => Promise<unknown>) {
  const sent: ReturnType<typeof settle>[] = [];
  const isRefused = ({ outcome }: ReturnType<typeof settle>) => outcome.error !== undefined;
  while (sent.length < 10 || !sent.slice(-10).every(isRefused)) {
    sent.push(settle(send(String(sent.length))));
    await clock.advance(250);
  }
  return sent.filter((one) => !isRefused(one)).length;
}

describe('the budget of calls', () => {
  it('the call budget never allows more than five calls in any second', async () => {
    const { clock, protection, upstream } = createProtected();
    for (let tick = 0; tick < 600; tick++) {
      for (let one = 0; one < 3; one++) settle(protection.queryUpstream({ ...DEPARTURES, stopId: `${tick}${one}` }));
      await clock.advance(100);
    }
    expect(upstream.calls.length).toBeGreaterThan(250);
    const gaps = upstream.calls.slice(5).map((call, index) => call - (upstream.calls[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000);
  });

  it('the call budget spaces out calls whose delayed grants arrive together', () => {
    const meter = new ProcessMeter({ rps: 2, dailyBudget: 1000 }, () => Date.UTC(2026, 3, 15));
    const waits = [0, 0, 0, 0, 500].map((waitMs) => meter.startGranted(waitMs));
    expect(waits).toEqual([0, 0, 1050, 1050, 2100]);
  });

  it('requests that the call budget cannot serve within three seconds get 503 with Retry-After', async () => {
    const { clock, protection } = createProtected();
    const sent = Array.from({ length: 40 }, (_, one) =>
      settle(protection.queryUpstream({ ...DEPARTURES, stopId: `${one}` })),
    );
    await clock.advance(3500);
    const refused = sent.filter(({ outcome }) => outcome.error);
    expect(refused.length).toBe(25);
    expect(refused[0]?.outcome.error).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      headers: { 'retry-after': expect.stringMatching(/^[23]$/) },
      unavailable: 'rate',
    });
  });

  it('the call budget serves high before normal before low priority, and background checks last', async () => {
    const { clock, protection } = createProtected();
    const order: string[] = [];
    for (const [stopId, priority] of ['low', 'background', 'low', 'normal', 'high', 'high'].entries()) {
      protection
        .queryUpstream({ ...DEPARTURES, stopId: `${stopId}` }, { priority: priority as Priority })
        .then(() => order.push(priority));
    }
    await clock.advance(5000);
    expect(order).toEqual(['high', 'high', 'normal', 'low', 'low', 'background']);
  });

  it('the call budget probes a paused key with one call, however many requests wait', async () => {
    const { clock, protection, upstream, send } = createProtected();
    upstream.outcome = () => statusFailure(429, 300);
    await send('pauses it');
    await clock.advance(60_001);
    for (let one = 0; one < 5; one++) settle(protection.queryUpstream({ ...DEPARTURES, stopId: `${one}` }));
    await clock.advance(1000);
    expect(upstream.calls).toHaveLength(2);
  });

  it('the call budget gives a call the highest priority of the requests waiting for it', async () => {
    const { clock, protection } = createProtected();
    const order: string[] = [];
    const send = (stopId: string, priority: 'low' | 'high') =>
      protection.queryUpstream({ ...DEPARTURES, stopId }, { priority }).then(() => order.push(stopId));
    for (const stopId of ['1', '2', '3', '4', '5', '6', '7', '8']) send(stopId, 'low');
    send('8', 'high');
    await clock.advance(5000);
    expect(order.indexOf('8')).toBeLessThan(order.indexOf('6'));
  });

  it('the call budget spreads the day’s calls evenly, carries over unused ones, and has some left in the last hour', async () => {
    const { clock, protection, upstream } = createProtected({ limits: { rps: 5, dailyBudget: 2400 } });
    const midnight = Date.UTC(2026, 3, 16);
    await clock.advanceTo(midnight + 6 * HOUR);
    const before = upstream.calls.length;
    for (let second = 0, stop = 0; second < 18 * 3600; second += 10) {
      for (let one = 0; one < 3; one++) {
        settle(protection.queryUpstream({ ...DEPARTURES, stopId: `${stop++}` }, { priority: 'high' }));
      }
      await clock.advance(10_000);
    }
    const calls = upstream.calls.slice(before);
    const inHour = (hour: number) => calls.filter((call) => Math.floor((call - midnight) / HOUR) === hour).length;
    expect(inHour(6)).toBeGreaterThan(600);
    for (let hour = 7; hour < 24; hour++) {
      expect(Math.abs(inHour(hour) - 96), `${inHour(hour)} in hour ${hour}`).toBeLessThanOrEqual(5);
    }
    expect(calls.length).toBeLessThanOrEqual(2400);
    expect(calls.some((call) => call > midnight + 24 * HOUR - 120_000)).toBe(true);
  });

  it('the call budget has calls for feeds when requests have used theirs, up to the whole day', async () => {
    const { clock, protection } = createProtected({ limits: { rps: 5, dailyBudget: 4800, setAside: 2400 } });
    await clock.advanceTo(Date.UTC(2026, 3, 16) + 1000);
    await spendAll(clock, (stopId) => protection.queryUpstream({ ...DEPARTURES, stopId }, { priority: 'high' }));
    const other = settle(protection.queryUpstream({ ...DEPARTURES, stopId: 'other' }, { priority: 'high' }));
    const poll = settle(protection.callForFeed(async () => 'feed'));
    await clock.advance(1000);
    expect(other.outcome.error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', unavailable: 'day' });
    expect(poll.outcome.value).toBe('feed');
    expect(protection.state().callsLeft[0]).toBeGreaterThan(2400);
    await clock.advance(3 * HOUR);
    const later = settle(protection.queryUpstream({ ...DEPARTURES, stopId: 'other' }, { priority: 'high' }));
    await clock.advance(1000);
    expect(later.outcome.error).toBeUndefined();
  });

  it.each(['low', 'normal'] as const)(
    'one account of a lower plan that has used all its calls cannot stop Pro refreshes: %s',
    async (priority) => {
      const { clock, protection, send } = createProtected({ limits: { rps: 5, dailyBudget: 4800 } });
      await clock.advanceTo(Date.UTC(2026, 3, 16) + 1000);
      await send('of pro', 'high');
      const options = { priority, accounts: new Set(['greedy']) };
      await spendAll(clock, (stopId) => protection.queryUpstream({ ...DEPARTURES, stopId: `1${stopId}` }, options));
      await clock.advance(1000);
      const again = await send('of pro', 'high');
      expect(again.value?.freshness).toMatchObject({ source: 'upstream', shortage: null });
    },
  );

  it('the call budget reports `spent` when requests get no more calls, and `refused` when upstream refuses every key', async () => {
    const spent = createProtected({ limits: { rps: 5, dailyBudget: 2000 } });
    expect(spent.protection.state().shortage).toBeNull();
    await spendAll(spent.clock, (stopId) =>
      spent.protection.queryUpstream({ ...DEPARTURES, stopId }, { priority: 'high' }),
    );
    expect(spent.protection.state().shortage).toBe('spent');
    await spent.clock.advance(6 * HOUR);
    expect(spent.protection.state().shortage).toBeNull();

    const { protection, upstreams, send, clock } = createProtected({ keys: 2 });
    const [one, other] = upstreams;
    if (one) one.outcome = () => statusFailure(403, 300);
    await send('1');
    expect(protection.state().shortage).toBeNull();
    if (other) other.outcome = () => statusFailure(403, 300);
    await send('2');
    expect(protection.state().shortage).toBe('refused');
    await clock.advance(300_000);
    expect(protection.state().shortage).toBeNull();
  });

  it('each upstream key has a call budget of its own', async () => {
    const { clock, protection, upstreams } = createProtected({ keys: 2 });
    for (let one = 0; one < 10; one++) settle(protection.queryUpstream({ ...DEPARTURES, stopId: `${one}` }));
    await clock.advance(900);
    expect(upstreams.map(({ calls }) => calls.length)).toEqual([5, 5]);
  });
});
