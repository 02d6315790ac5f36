import type { EfaClient } from '../efa/client.ts';
import type { Traffic } from './traffic.ts';

/** The same client, with every good answer told to `traffic`. To be put next to the authority, inside of any cache. */
export function watchUpstream<Client extends EfaClient>(client: Client, traffic: Traffic): Client {
  return {
    ...client,
    departureMonitor: async (...question: Parameters<EfaClient['departureMonitor']>) => {
      const answer = await client.departureMonitor(...question);
      traffic.upstreamAnswered(answer.payload.stopEvents.length, answer.payload.stopEvents.filter(isLive).length);
      return answer;
    },
    tripPlan: async (...question: Parameters<EfaClient['tripPlan']>) => {
      const answer = await client.tripPlan(...question);
      traffic.upstreamAnswered(0, 0);
      return answer;
    },
    coordSearch: async (...question: Parameters<EfaClient['coordSearch']>) => {
      const answer = await client.coordSearch(...question);
      traffic.upstreamAnswered(0, 0);
      return answer;
    },
    stopFinder: async (...question: Parameters<EfaClient['stopFinder']>) => {
      const answer = await client.stopFinder(...question);
      traffic.upstreamAnswered(0, 0);
      return answer;
    },
  };
}

function isLive(event: unknown): boolean {
  return (event as { isRealtimeControlled?: unknown } | null)?.isRealtimeControlled === true;
}
