import { joinTicket, type Ticket } from './budget/ticket.ts';

/** One piece of work that any number of requests wait for. */
interface Flight<Result> {
  result: Promise<Result>;
  startedAt: number;
}

export interface SingleFlight<Result> {
  /** The flight under way for the key, else a new one. A ticket that joins can only improve the flight's place in line. */
  join(
    key: string,
    ticket: Ticket,
    work: (ticket: Ticket) => Promise<Result>,
  ): { flight: Flight<Result>; isOurs: boolean };
}

/** A flight belongs to no request: one that goes away, or waits no longer, changes nothing for the others. */
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
      // Requests may have given up by then; a rejection that nothing handles would end the process.
      result.catch(() => {});
      const flight = { result, startedAt: now(), ticket };
      flights.set(key, flight);
      return { flight, isOurs: true };
    },
  };
}
