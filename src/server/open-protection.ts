import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Deadlines } from '../core/clock.ts';
import type { SharedRedis } from '../core/redis/shared-redis.ts';
import { createEfaClient } from '../efa/client.ts';
import { UpstreamClock } from '../efa/upstream-http.ts';
import { type Instruments, watchUpstream } from '../extensions/telemetry/instruments.ts';
import { SharedTraffic } from '../extensions/telemetry/shared-traffic.ts';
import { Traffic, type UpstreamHealth } from '../extensions/telemetry/traffic.ts';
import { FEED_CALLS_A_DAY } from '../realtime/polling/feed-source.ts';
import { createSharedMeters, protectUpstream } from '../upstream/protection.ts';
import { type Upstream, withRehearsals } from './upstream-source.ts';

export type Protection = ReturnType<typeof openProtection>;

/** Opens the clients of upstream within one budget, and records their calls. */
export function openProtection(
  { upstreamLimits, upstreamProxy, timetable }: Config,
  options: {
    upstream: Upstream;
    redis: SharedRedis | null;
    deadlines: Deadlines;
    instruments: Instruments;
    now: () => number;
    log: Logger;
  },
) {
  const { upstream, redis, deadlines, instruments, now, log } = options;
  const { url, source, apiKeys, isSandbox } = upstream;
  /**
   * Daily calls of each key that are reserved for feeds. This also covers the nightly files, because some feeds are polled less at night.
   */
  const setAside = timetable.mode === 'off' ? 0 : FEED_CALLS_A_DAY / apiKeys.length;
  const limits = { ...upstreamLimits, setAside: Math.min(setAside, upstreamLimits.dailyBudget / 2) };
  const clock = new UpstreamClock(log);
  const clients = apiKeys.map((apiKey) =>
    createEfaClient({ url, apiKey, timeoutMs: deadlines.callMs, proxyUrl: upstreamProxy, clock, now }),
  );
  const sharedTraffic = redis && new SharedTraffic({ redis, source, now });
  const traffic = sharedTraffic ?? new Traffic(now);
  let hasResponded = isSandbox;
  /** Logged once, to show an operator that a new key works. */
  const logFirstResponse = () => {
    if (!hasResponded) log.info('first upstream response: ok');
    hasResponded = true;
  };
  const callByKey = clients.map((client) => watchUpstream(client.callUpstream, traffic, instruments, logFirstResponse));
  const guard = { callByKey, limits, deadlines, log };
  const meters = redis ? createSharedMeters(redis, { apiKeys, limits }) : undefined;
  const protection = protectUpstream({ ...guard, meters });
  const health = (): UpstreamHealth => {
    const { budgetLeft, isBreakerOpen, shortage } = protection.state();
    return { budgetLeft, isBreakerOpen, shortage };
  };
  if (sharedTraffic) sharedTraffic.health = health;
  return {
    ...protection,
    /** For callers' requests, which may rehearse failures in the sandbox. */
    queryForCallers: isSandbox ? withRehearsals(protection.queryUpstream, guard) : protection.queryUpstream,
    callsPerSecond: limits.rps * callByKey.length,
    /** Whether the budget is large enough to reserve all calls of the feeds. */
    reservesFeeds: limits.setAside === setAside,
    isScarce: () => protection.state().shortage !== null || protection.state().isBreakerOpen,
    health,
    traffic,
    async close() {
      await sharedTraffic?.close();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
