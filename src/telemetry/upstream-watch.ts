import type { AskAuthority, AskOptions } from '../efa/ask.ts';
import { outcomeOf } from '../efa/failure.ts';
import { count, type Instruments, observe } from './instruments.ts';
import { toLabel } from './label.ts';
import type { Traffic } from './traffic.ts';

/** `ask` with every call counted. It belongs next to upstream, inside of any cache. */
export function watchUpstream(ask: AskAuthority, traffic: Traffic, instruments?: Instruments): AskAuthority {
  return async (request, options) => {
    const startedAt = performance.now();
    const finish = (outcome: string) => {
      if (instruments) recordCall(instruments, request.kind, outcome, (performance.now() - startedAt) / 1000, options);
    };
    try {
      const response = await ask(request, options);
      const events = 'stopEvents' in response.payload ? response.payload.stopEvents : [];
      recordRecords(traffic, instruments, events.length, events.filter(isLive).length);
      finish('ok');
      return response;
    } catch (error) {
      finish(outcomeOf(error));
      throw error;
    }
  };
}

function recordCall(
  { upstreamCalls, upstreamCallSeconds }: Instruments,
  kind: string,
  outcome: string,
  seconds: number,
  { purpose, priority = 'low' }: AskOptions = {},
): void {
  count(upstreamCalls, outcome, toLabel(purpose ?? 'none'), priority);
  observe(upstreamCallSeconds, seconds, kind);
}

function recordRecords(traffic: Traffic, instruments: Instruments | undefined, records: number, live: number): void {
  traffic.upstreamResponded(records, live);
  if (!instruments) return;
  instruments.departureRecords.series.at('true').count += live;
  instruments.departureRecords.series.at('false').count += records - live;
}

function isLive(event: unknown): boolean {
  return (event as { isRealtimeControlled?: unknown } | null)?.isRealtimeControlled === true;
}
