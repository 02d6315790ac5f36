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
  /** Those for which a call is being taken, in the order in which that began. They are not refused meanwhile. */
  readonly underWay = new Set<Waiting>();
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

  /** All but those under way. */
  waiting(): readonly Waiting[] {
    return this.#line.filter((one) => !this.underWay.has(one));
  }

  /** How full the line is for a new ticket of that priority: by the tickets that are served before it or go round with it. */
  fillFor(priority: Priority): number {
    return this.waiting().filter(({ ticket }) => !isHigher(priority, ticket.priority)).length / this.longest;
  }

  /** The next to be served of those that wait and fit: by priority, then round the accounts, then by arrival. */
  first(isFit: (waiting: Waiting) => boolean = () => true): Waiting | undefined {
    const fitting = this.waiting().filter(isFit);
    const highest = Math.max(...fitting.map(rankOf));
    const turns = this.#turnsUnderWay();
    const [next] = fitting
      .filter((waiting) => rankOf(waiting) === highest)
      .map((waiting) => ({ waiting, turn: this.#lastTurnOf(waiting.ticket, turns) }))
      .sort((one, other) => one.turn - other.turn);
    return next?.waiting;
  }

  /** The turns that accounts will have had when those under way have been served. */
  #turnsUnderWay(): Map<string, number> {
    const turns = new Map<string, number>();
    let turn = this.#turn;
    for (const { ticket } of this.underWay) {
      turn++;
      for (const account of accountsOf(ticket)) turns.set(account, turn);
    }
    return turns;
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
    const ofLine = inOrder.filter((waiting, place) => place >= roomFor(waiting));
    const mayBeRefused = (waiting: Waiting) => !this.underWay.has(waiting);
    return { ofAccounts: [...beyond].filter(mayBeRefused), ofLine: ofLine.filter(mayBeRefused) };
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

  #lastTurnOf(ticket: Ticket, underWay: ReadonlyMap<string, number>): number {
    return Math.min(...accountsOf(ticket).map((one) => underWay.get(one) ?? this.#turns.peek(one) ?? 0));
  }
}

function rankOf({ ticket }: Waiting): number {
  return PRIORITIES.indexOf(ticket.priority);
}
