import { isHigher, MAX_WAITING, PRIORITIES, type Priority } from '../../efa/query-upstream.ts';

/** A request to the queue for one call. Requests that join the call change its ticket while it waits. */
export interface Ticket {
  /** The highest priority among the requests waiting for the call. */
  priority: Priority;
  /** The accounts waiting for the call, one set for each response that needs it. */
  accounts: ReadonlySet<string>[];
  /** A key that upstream refused for this request; another one is used. */
  refusedBy?: number;
}

/** Further sets are ignored: they would hardly change the position. */
const MAX_ACCOUNT_SETS = 32;

export function joinTicket(ticket: Ticket, { priority, accounts }: Ticket): void {
  if (isHigher(priority, ticket.priority)) ticket.priority = priority;
  if (ticket.accounts.length < MAX_ACCOUNT_SETS) ticket.accounts.push(...accounts);
}

/** Stands for all requests without an account, such as those of the service's own pages. */
const NO_ACCOUNT = '';

export function accountsOf({ accounts }: Pick<Ticket, 'accounts'>): string[] {
  const names = accounts.flatMap((set) => (set.size > 0 ? [...set] : [NO_ACCOUNT]));
  return names.length > 0 ? names : [NO_ACCOUNT];
}

export interface Waiting {
  ticket: Ticket;
  /** True while a call is being taken for it. */
  isTaking: boolean;
  /** When it is refused, in milliseconds since 1970. */
  until: number;
  resolve(key: number): void;
  reject(error: Error): void;
}

/** How many past calls the round-robin considers. */
const RECENT_CALLS = 200;

/** The tickets waiting for a call: highest priority first, then round-robin by account. */
export class CallQueue {
  #waiting: Waiting[] = [];
  /** The accounts of recent calls, latest last. */
  #served: string[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  join(waiting: Waiting): void {
    this.#waiting.push(waiting);
  }

  leave(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((queued) => queued !== waiting);
  }

  /** Removes a ticket that got its call and moves its accounts to the end. */
  serve(waiting: Waiting): void {
    this.leave(waiting);
    this.#served = [...this.#served, ...accountsOf(waiting.ticket)].slice(-RECENT_CALLS);
  }

  /**
   * The tickets in serving order. `isBeyond`: its accounts have reached their limit. A ticket with several accounts gets
   * their best position.
   */
  inOrder(): { waiting: Waiting; isBeyond: boolean }[] {
    const counts = new Map<string, number>();
    const ranked = this.#waiting.map((waiting) => {
      const { priority } = waiting.ticket;
      const accounts = accountsOf(waiting.ticket);
      const before = accounts.map((account) => counts.get(`${priority} ${account}`) ?? 0);
      for (const [index, account] of accounts.entries()) counts.set(`${priority} ${account}`, (before[index] ?? 0) + 1);
      const place = Math.min(...before);
      const isBeyond = place >= MAX_WAITING[priority] && !accounts.includes(NO_ACCOUNT);
      const turn = Math.min(...accounts.map((account) => this.#served.lastIndexOf(account)));
      return { waiting, isBeyond, rank: PRIORITIES.indexOf(priority), place, turn };
    });
    return ranked.sort((a, b) => b.rank - a.rank || a.place - b.place || a.turn - b.turn);
  }
}
