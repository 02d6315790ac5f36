import { LRUCache } from 'lru-cache';
import { isHigher, MOST_WAITING, PRIORITIES, type Priority } from '../../efa/ask.ts';
import { accountsOf, NO_ACCOUNT, type Ticket } from './ticket.ts';

/** A ticket that waits. A ticket of several accounts has the place of the account that is best placed. */
export interface Waiting {
  ticket: Ticket;
  until: number;
  resolve(key: number): void;
  reject(error: Error): void;
}

export interface WaitingLine {
  join(waiting: Waiting): void;
  leave(waiting: Waiting): void;
  all(): readonly Waiting[];
  /** How many tickets are served before a new one of that priority, or go round with it. */
  lengthFor(priority: Priority): number;
  /** The next to be served: by priority, then round the accounts, then by arrival. */
  first(): Waiting | undefined;
  /** Puts the accounts of a ticket that was served at the end of the round. */
  noteServed(ticket: Ticket): void;
  /** The tickets to refuse: those beyond what their account may have waiting, and those that make the line too long. */
  surplus(): { ofAccounts: Waiting[]; ofLine: Waiting[] };
}

/** Background checks may fill this part of the line only. */
const BACKGROUND_SHARE = 0.6;
const MAX_ACCOUNTS = 10_000;

/** `longest` is how many tickets may wait; `shareOf` tells an account's share of recent calls. */
export function createWaitingLine(longest: number, shareOf: (account: string) => number): WaitingLine {
  let line: Waiting[] = [];
  let turn = 0;
  /**
   * The last turn of each account. Dropped accounts count as never served, which is right: they had the oldest turns.
   */
  const turns = new LRUCache<string, number>({ max: MAX_ACCOUNTS });

  function first(): Waiting | undefined {
    const highest = Math.max(...line.map(rankOf));
    const [next] = line
      .filter((waiting) => rankOf(waiting) === highest)
      .map((waiting) => ({ waiting, turn: Math.min(...accountsOf(waiting.ticket).map(lastTurnOf)) }))
      .sort((one, other) => one.turn - other.turn);
    return next?.waiting;
  }

  function lastTurnOf(account: string): number {
    return turns.peek(account) ?? 0;
  }

  /** A line that is too long loses the lowest priority first, and within it the accounts with most recent calls. */
  function surplus() {
    const beyond = beyondAccounts();
    const inOrder = line
      .filter((one) => !beyond.has(one))
      .map((waiting) => ({ waiting, share: Math.min(...accountsOf(waiting.ticket).map(shareOf)) }))
      .sort((one, other) => rankOf(other.waiting) - rankOf(one.waiting) || one.share - other.share)
      .map(({ waiting }) => waiting);
    const roomFor = ({ ticket }: Waiting) => longest * (ticket.priority === 'background' ? BACKGROUND_SHARE : 1);
    return { ofAccounts: [...beyond], ofLine: inOrder.filter((waiting, place) => place >= roomFor(waiting)) };
  }

  /** A ticket takes the room of one of its accounts: the one with fewest recent calls among those that have room. */
  function beyondAccounts(): Set<Waiting> {
    const roomLeft = new Map<string, number>();
    const beyond = new Set<Waiting>();
    for (const waiting of line) {
      const { priority } = waiting.ticket;
      const roomOf = (account: string) =>
        account === NO_ACCOUNT
          ? Number.POSITIVE_INFINITY
          : (roomLeft.get(`${priority} ${account}`) ?? MOST_WAITING[priority]);
      const [account] = accountsOf(waiting.ticket)
        .filter((account) => roomOf(account) > 0)
        .sort((one, other) => shareOf(one) - shareOf(other));
      if (account === undefined) beyond.add(waiting);
      else roomLeft.set(`${priority} ${account}`, roomOf(account) - 1);
    }
    return beyond;
  }

  return {
    join: (waiting) => void line.push(waiting),
    leave: (waiting) => {
      line = line.filter((one) => one !== waiting);
    },
    all: () => line,
    lengthFor: (priority) => line.filter(({ ticket }) => !isHigher(priority, ticket.priority)).length,
    first,
    noteServed(ticket) {
      turn++;
      for (const account of accountsOf(ticket)) turns.set(account, turn);
    },
    surplus,
  };
}

function rankOf({ ticket }: Waiting): number {
  return PRIORITIES.indexOf(ticket.priority);
}
