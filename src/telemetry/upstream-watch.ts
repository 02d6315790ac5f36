import type { Ask } from '../efa/ask.ts';
import type { Traffic } from './traffic.ts';

/** `ask` with every good answer counted in `traffic`. It belongs next to the authority, inside of any cache. */
export function watchUpstream(ask: Ask, traffic: Traffic): Ask {
  return async (question, options) => {
    const answer = await ask(question, options);
    const events = 'stopEvents' in answer.payload ? answer.payload.stopEvents : [];
    traffic.upstreamAnswered(events.length, events.filter(isLive).length);
    return answer;
  };
}

function isLive(event: unknown): boolean {
  return (event as { isRealtimeControlled?: unknown } | null)?.isRealtimeControlled === true;
}
