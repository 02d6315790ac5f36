import { isHigher, type Priority } from '../../efa/ask.ts';

/** What a call is for: replacing an answer that could be served stale, or a question that few or many ask. */
type CallPurpose = 'refresh' | 'askRare' | 'askPopular';

/** A place in the line for a call. It changes while it waits, when a request joins the same call. */
export interface Ticket {
  /** The highest of the requests that wait for the call. */
  priority: Priority;
  purpose: CallPurpose;
  /** The accounts that wait for it, a set for each question that led to the call. */
  accounts: ReadonlySet<string>[];
}

/** More accounts than this make no difference to the place in line. */
const MAX_ACCOUNT_SETS = 32;

export function createTicket(priority: Priority, purpose: CallPurpose, accounts?: ReadonlySet<string>): Ticket {
  return { priority, purpose, accounts: accounts ? [accounts] : [] };
}

export function joinTicket(ticket: Ticket, { priority, accounts }: Ticket): void {
  if (isHigher(priority, ticket.priority)) ticket.priority = priority;
  if (ticket.accounts.length < MAX_ACCOUNT_SETS) ticket.accounts.push(...accounts);
}

/** Requests without an account, such as those of our own pages, are one party together. */
export const NO_ACCOUNT = '';

export function accountsOf({ accounts }: Ticket): string[] {
  const names = accounts.flatMap((set) => (set.size > 0 ? [...set] : [NO_ACCOUNT]));
  return names.length > 0 ? names : [NO_ACCOUNT];
}
