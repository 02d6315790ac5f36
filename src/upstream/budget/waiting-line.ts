import { isHigher, MOST_WAITING, PRIORITIES, type Priority } from '../../efa/ask.ts';
import { createBoundedMap } from '../../own-memory.ts';
import { type AccountLoad, accountsOf, NO_ACCOUNT, type Ticket } from './reserve-limits.ts';

/** A ticket that waits. A ticket of several accounts has the place of the account that is best placed. */
export interface Waiting {
  ticket: Ticket;
  until: number;
  resolve(key: number): void;
  reject(error: Error): void;
}

/** Background checks may fill this part of the line only. */
const BACKGROUND_SHARE = 0.6;
const MAX_ACCOUNTS = 10_000;

/** The tickets that wait for a call. */
export class WaitingLine {
  /** How many tickets may wait. */
  readonly longest: number;
  readonly #load: AccountLoad;
  #line: Waiting[] = [];
  #turn = 0;
  /** The last turn of each account. Dropped accounts count as never served, which is right: they had the oldest turns. */
  readonly #turns = createBoundedMap<number>('turns of accounts', MAX_ACCOUNTS);

  constructor(longest: number, load: AccountLoad) {
    this.longest = longest;
    this.#load = load;
  }

  join(waiting: Waiting): void {
    this.#line.push(waiting);
  }

  leave(waiting: Waiting): void {
    this.#line = this.#line.filter((one) => one !== waiting);
  }

  all(): readonly Waiting[] {
    return this.#line;
  }

  /** How full the line is for a new ticket of that priority: by the tickets that are served before it or go round with it. */
  fillFor(priority: Priority): number {
    return this.#line.filter(({ ticket }) => !isHigher(priority, ticket.priority)).length / this.longest;
  }

  /** The next to be served: by priority, then round the accounts, then by arrival. */
  first(): Waiting | undefined {
    const highest = Math.max(...this.#line.map(rankOf));
    const [next] = this.#line
      .filter((waiting) => rankOf(waiting) === highest)
      .map((waiting) => ({ waiting, turn: this.#lastTurnOf(waiting.ticket) }))
      .sort((one, other) => one.turn - other.turn);
    return next?.waiting;
  }

  /** Puts the accounts of a ticket that was served at the end of the round. */
  noteServed(ticket: Ticket): void {
    this.#turn++;
    for (const account of accountsOf(ticket)) this.#turns.set(account, this.#turn);
  }

  /**
   * The tickets to refuse: those beyond what their account may have waiting, and those that make the line too long. Of these
   * the lowest priority goes first, and within it the accounts with most recent calls.
   */
  surplus(): { ofAccounts: Waiting[]; ofLine: Waiting[] } {
    const beyond = this.#beyondAccounts();
    const inOrder = this.#line
      .filter((one) => !beyond.has(one))
      .map((waiting) => ({ waiting, share: this.#load.shareOfTicket(waiting.ticket) }))
      .sort((one, other) => rankOf(other.waiting) - rankOf(one.waiting) || one.share - other.share)
      .map(({ waiting }) => waiting);
    const roomFor = ({ ticket }: Waiting) => this.longest * (ticket.priority === 'background' ? BACKGROUND_SHARE : 1);
    return { ofAccounts: [...beyond], ofLine: inOrder.filter((waiting, place) => place >= roomFor(waiting)) };
  }

  /** A ticket takes the room of one of its accounts: the one with fewest recent calls among those that have room. */
  #beyondAccounts(): Set<Waiting> {
    const roomLeft = new Map<string, number>();
    const beyond = new Set<Waiting>();
    for (const waiting of this.#line) {
      const { priority } = waiting.ticket;
      const roomOf = (account: string) =>
        account === NO_ACCOUNT
          ? Number.POSITIVE_INFINITY
          : (roomLeft.get(`${priority} ${account}`) ?? MOST_WAITING[priority]);
      const [account] = accountsOf(waiting.ticket)
        .filter((account) => roomOf(account) > 0)
        .sort((one, other) => this.#load.shareOf(one) - this.#load.shareOf(other));
      if (account === undefined) beyond.add(waiting);
      else roomLeft.set(`${priority} ${account}`, roomOf(account) - 1);
    }
    return beyond;
  }

  #lastTurnOf(ticket: Ticket): number {
    return Math.min(...accountsOf(ticket).map((account) => this.#turns.peek(account) ?? 0));
  }
}

function rankOf({ ticket }: Waiting): number {
  return PRIORITIES.indexOf(ticket.priority);
}
