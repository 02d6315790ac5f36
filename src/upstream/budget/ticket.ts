import { type CallPurpose, isHigher, type Priority } from '../../efa/ask.ts';

/** A place in the line for a call. Requests that join the same call change it while it waits. */
export interface Ticket {
  /** The highest priority of the requests that wait for the call. */
  priority: Priority;
  purpose: CallPurpose;
  /** The accounts that wait for the call, one set for each finding that asked for it. */
  accounts: ReadonlySet<string>[];
  /** The upstream key with which upstream has refused the request; another one is taken. */
  refusedBy?: number;
}

/** Further sets are ignored; they would hardly change the place in line. */
const MAX_ACCOUNT_SETS = 32;

export function joinTicket(ticket: Ticket, { priority, purpose, accounts }: Ticket): void {
  if (isHigher(priority, ticket.priority)) ticket.priority = priority;
  if (isRefusedLater(purpose, ticket.purpose)) ticket.purpose = purpose;
  if (ticket.accounts.length < MAX_ACCOUNT_SETS) ticket.accounts.push(...accounts);
}

/** Purposes that are refused after all others, in this order. Polls of feeds join no other call. */
const LATE_REFUSED: readonly CallPurpose[] = ['readOn', 'board', 'timetable'];

function isRefusedLater(one: CallPurpose, other: CallPurpose): boolean {
  return LATE_REFUSED.indexOf(one) > LATE_REFUSED.indexOf(other);
}

/** Stands for all requests without an account, such as those of the service's own pages. */
export const NO_ACCOUNT = '';

export function accountsOf({ accounts }: Pick<Ticket, 'accounts'>): string[] {
  const names = accounts.flatMap((set) => (set.size > 0 ? [...set] : [NO_ACCOUNT]));
  return names.length > 0 ? names : [NO_ACCOUNT];
}
