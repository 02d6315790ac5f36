import { joinTicket, type Ticket } from './budget/ticket.ts';

/** Work under way that any number of requests wait for. */
interface Flight<Result> {
  result: Promise<Result>;
  startedAt: number;
}

export interface SingleFlight<Result> {
  /**
   * The flight under way for the key, else a new one. A ticket that joins can improve the place of the flight's ticket.
   */
  join(
    key: string,
    ticket: Ticket,
    work: (ticket: Ticket) => Promise<Result>,
  ): { flight: Flight<Result>; isOurs: boolean };
}

/**
 * Empty after landing: the former memory of a `Map` keeps entries that were deleted, and what they refer to, from being
 * freed until a full garbage collection.
 */
interface Entry<Result> {
  flight: Flight<Result> | null;
  ticket: Ticket;
}

/** A flight goes on when the request that began it gives up; the other requests still wait for it. */
export function createSingleFlight<Result>({ now }: { now: () => number }): SingleFlight<Result> {
  const entries = new Map<string, Entry<Result>>();

  function land(key: string, entry: Entry<Result>): void {
    entries.delete(key);
    entry.flight = null;
  }

  return {
    join(key, ticket, work) {
      const underWay = entries.get(key);
      if (underWay?.flight) {
        joinTicket(underWay.ticket, ticket);
        return { flight: underWay.flight, isOurs: false };
      }
      const entry: Entry<Result> = { flight: null, ticket };
      const result = work(ticket).finally(() => land(key, entry));
      // All requests may have given up, and a rejection without a handler would end the process.
      result.catch(() => {});
      const flight = { result, startedAt: now() };
      entry.flight = flight;
      entries.set(key, entry);
      return { flight, isOurs: true };
    },
  };
}
