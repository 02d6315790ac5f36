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

/** A flight goes on when the request that began it gives up; the other requests still wait for it. */
export function createSingleFlight<Result>({ now }: { now: () => number }): SingleFlight<Result> {
  const flights = new Map<string, Flight<Result> & { ticket: Ticket }>();

  return {
    join(key, ticket, work) {
      const underWay = flights.get(key);
      if (underWay) {
        joinTicket(underWay.ticket, ticket);
        return { flight: underWay, isOurs: false };
      }
      const result = work(ticket).finally(() => flights.delete(key));
      // All requests may have given up, and a rejection without a handler would end the process.
      result.catch(() => {});
      const flight = { result, startedAt: now(), ticket };
      flights.set(key, flight);
      return { flight, isOurs: true };
    },
  };
}
