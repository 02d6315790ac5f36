import type { AskAuthority } from '../efa/ask.ts';
import { outcomeOf } from '../efa/failure.ts';
import { type Instruments, toLabel } from './instruments.ts';
import type { Traffic } from './traffic.ts';

/** `ask` with every call counted. It belongs next to upstream, inside of any cache. `heard` is told of good responses. */
export function watchUpstream(
  ask: AskAuthority,
  traffic: Traffic,
  { upstreamCalls, upstreamCallSeconds, departureRecords }: Instruments,
  heard: () => void = () => {},
): AskAuthority {
  return async (request, options = {}) => {
    const { purpose = 'none', priority = 'low' } = options;
    const startedAt = performance.now();
    const finish = (outcome: string) => {
      upstreamCalls.inc([outcome, toLabel(purpose), priority]);
      upstreamCallSeconds.observe((performance.now() - startedAt) / 1000, [request.kind]);
    };
    try {
      const response = await ask(request, options);
      const events = 'stopEvents' in response.payload ? response.payload.stopEvents : [];
      const live = events.filter(isLive).length;
      traffic.upstreamResponded(events.length, live);
      departureRecords.inc(['true'], live);
      departureRecords.inc(['false'], events.length - live);
      finish('ok');
      heard();
      return response;
    } catch (error) {
      finish(outcomeOf(error));
      throw error;
    }
  };
}

function isLive(event: unknown): boolean {
  return (event as { isRealtimeControlled?: unknown } | null)?.isRealtimeControlled === true;
}

/** The store with its admissions timed and counted; `heard` is told of each response. */
export function watchAdmissions<Store extends { admit(request: never): Promise<unknown> }>(
  store: Store,
  { storeCalls, storeSeconds }: Instruments,
  heard: () => void = () => {},
): Store {
  return {
    ...store,
    admit(request: never) {
      const startedAt = performance.now();
      const note = (outcome: 'answered' | 'failed') => {
        storeCalls.inc([outcome]);
        storeSeconds.observe((performance.now() - startedAt) / 1000);
      };
      const response = store.admit(request);
      response.then(
        () => {
          note('answered');
          heard();
        },
        () => note('failed'),
      );
      return response;
    },
  };
}
