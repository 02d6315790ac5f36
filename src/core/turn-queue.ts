/** Priorities of work that waits, lowest first: background work, the three priorities of plans, feeds and files. */
export const PRIORITIES = ['background', 'low', 'normal', 'high', 'feed'] as const;
export type Priority = (typeof PRIORITIES)[number];

export const rankOf = (priority: Priority): number => PRIORITIES.indexOf(priority);
export const isHigher = (a: Priority, b: Priority): boolean => rankOf(a) > rankOf(b);

/** Maximum number of waiting requests of one account in a queue, by priority. */
export const MAX_WAITING: Readonly<Record<Priority, number>> = {
  background: Number.POSITIVE_INFINITY,
  low: 2,
  normal: 8,
  high: 32,
  feed: Number.POSITIVE_INFINITY,
};

/** The priority of work, and the accounts that wait for it. */
export interface Turn {
  priority: Priority;
  /** The accounts that wait for it. Others may join while it waits. */
  accounts: ReadonlySet<string>;
  /** Aborts when all callers have hung up. */
  signal: AbortSignal;
  /** To be called when work begins that is charged even if it fails. */
  begin(): void;
}

/** For work that no caller waits for. */
export const BACKGROUND: Turn = {
  priority: 'background',
  accounts: new Set(),
  signal: new AbortController().signal,
  begin() {},
};

/** What decides the place of waiting work in a queue. Further requests for the same work join its ticket (`joinTicket`). */
export interface Ticket {
  /** The highest priority among the requests waiting for it. */
  priority: Priority;
  /** The accounts waiting for it, one set for each response that needs it. */
  accounts: ReadonlySet<string>[];
}

/** Further sets are ignored: they would hardly change the position. */
const MAX_ACCOUNT_SETS = 32;

export function joinTicket(ticket: Ticket, { priority, accounts }: Ticket): void {
  if (isHigher(priority, ticket.priority)) ticket.priority = priority;
  if (ticket.accounts.length < MAX_ACCOUNT_SETS) ticket.accounts.push(...accounts);
}

/** Stands for all requests without an account, such as those of the service's own pages. */
const NO_ACCOUNT = '';

export function accountsOf({ accounts }: Ticket): string[] {
  const names = accounts.flatMap((set) => (set.size > 0 ? [...set] : [NO_ACCOUNT]));
  return names.length > 0 ? names : [NO_ACCOUNT];
}

/** The round-robin considers this many recently served accounts. */
const RECENT_TURNS = 200;

/**
 * A queue of work: highest priority first, then round-robin by account. Otherwise one account with 32 waiting requests could take
 * all of the 15 calls that are made in the three seconds for which other requests wait.
 */
export class TurnQueue<Waiting extends { ticket: Ticket }> {
  #waiting: Waiting[] = [];
  /** The accounts of recent turns, latest last. */
  #served: string[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  has(waiting: Waiting): boolean {
    return this.#waiting.includes(waiting);
  }

  join(waiting: Waiting): void {
    this.#waiting.push(waiting);
  }

  leave(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((queued) => queued !== waiting);
  }

  /** Removes work that gets its turn, and moves its accounts to the end of the round-robin. */
  serve(waiting: Waiting): void {
    this.leave(waiting);
    this.#served = [...this.#served, ...accountsOf(waiting.ticket)].slice(-RECENT_TURNS);
  }

  /**
   * The waiting work in serving order. `isBeyond`: its accounts have reached `MAX_WAITING`. A ticket with several accounts gets
   * the best position among them.
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
      return { waiting, isBeyond, rank: rankOf(priority), place, turn };
    });
    return ranked.sort((a, b) => b.rank - a.rank || a.place - b.place || a.turn - b.turn);
  }
}
