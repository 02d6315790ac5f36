import type { UtcDay } from './day.ts';
import type { Allowance, Grant } from './grant.ts';
import type { Plan } from './plan.ts';

/** The account that a request comes from. */
export interface Caller {
  accountId: string;
  plan: Plan;
  /** Of the mail address of the account, as far as the store has told. */
  domain?: string;
  /** Present when the key was replaced and still works. */
  ending?: KeyEnding;
  /** Present on a publishable key. */
  grant?: Grant | undefined;
}

/** UTC, ISO 8601 */
export interface KeyEnding {
  /** Since when it is known that the key ends. */
  decidedAt: string;
  endsAt: string;
}

/**
 * A request that was counted, or refused because too little is left of the day or because the account makes too many
 * requests in a short time, or whose count was given back.
 */
export interface Admission {
  kind: 'admitted' | 'exhausted' | 'throttled' | 'given-back';
  caller: Caller;
  day: UtcDay;
  /** The number of requests that it counts as: one, unless its operation costs more. */
  count: number;
  /** Requests of the account counted that day, this one included if it was counted. Without meaning for unlimited plans. */
  used: number;
  /** The further counts that the request had to fit into, this request included. */
  allowances?: readonly (Allowance & { used: number })[] | undefined;
  /** The one of them that the request did not fit into; absent when it was the day of the account. */
  refusedBy?: Allowance['name'] | undefined;
}
