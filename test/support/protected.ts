import type { Priority } from '#src/core/turn-queue.ts';
import { type ProtectionOptions, protectUpstream } from '#src/upstream/protection.ts';
import { createMadeUpUpstream, createTestLog } from '#test/support/made-up-upstream.ts';
import { createSimulatedClock, type SimulatedClock } from '#test/support/simulated-clock.ts';

export const DEPARTURES = { kind: 'departureMonitor', stopId: '200060', modes: ['bus'], at: null } as const;

/** A protected, made-up upstream at noon of a simulated day. */
export function createProtected(options: Partial<ProtectionOptions> & { keys?: number; clock?: SimulatedClock } = {}) {
  const { clock = createSimulatedClock('2026-04-15T12:00:00Z') } = options;
  const upstreams = Array.from({ length: options.keys ?? 1 }, () => createMadeUpUpstream(clock));
  const log = createTestLog();
  const limits = { rps: 5, dailyBudget: 60_000 };
  const callByKey = upstreams.map(({ callUpstream }) => callUpstream);
  const protection = protectUpstream({ callByKey, limits, log, clock, ...options });
  const [upstream] = upstreams;
  if (!upstream) throw new Error('no upstream');
  return { clock, protection, upstream, upstreams, log, send, sendAt };

  /** Returns the outcome of a request, advancing the clock until there is one. */
  async function send(stopId = '200060', priority: Priority = 'low') {
    const sent = settle(protection.queryUpstream({ ...DEPARTURES, stopId }, { priority }));
    for (let waited = 0; !sent.isSettled && waited < 20_000; waited += 50) await clock.advance(50);
    return sent.outcome;
  }

  async function sendAt(moment: number, stopId?: string) {
    await clock.advanceTo(moment);
    return send(stopId);
  }
}

/** A promise whose state can be read. */
export function settle<Value>(promise: Promise<Value>) {
  const box: { isSettled: boolean; outcome: { value?: Value; error?: unknown } } = { isSettled: false, outcome: {} };
  promise.then(
    (value) => Object.assign(box, { isSettled: true, outcome: { value } }),
    (error) => Object.assign(box, { isSettled: true, outcome: { error } }),
  );
  return box;
}
