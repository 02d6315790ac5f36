import type { Priority } from '../../efa/ask.ts';

/** What a call is for: replacing an answer that could be served stale, or a question that few or many ask. */
export type CallPurpose = 'refresh' | 'askRare' | 'askPopular';

/**
 * What gives way first when calls are scarce. Each floor is a part of the day's reserve (`pace.ts`) that a call must
 * leave untouched: the higher the floor, the earlier the call is refused. A refresh gives way before a new question, and
 * a question that few ask before one that many ask, because the same call answers more requests.
 */
export const RESERVE_FLOORS = {
  background: { refresh: 0.85, askRare: 0.85, askPopular: 0.85 },
  low: { refresh: 0.4, askRare: 0.3, askPopular: 0.25 },
  normal: { refresh: 0.38, askRare: 0.2, askPopular: 0.15 },
  high: { refresh: 0.36, askRare: 0.1, askPopular: 0 },
} as const satisfies Record<Priority, Record<CallPurpose, number>>;
