import type { Priority } from '../efa/client.ts';
import type { Ticket } from './budget.ts';
import { higherOf } from './priority.ts';

/** One piece of work that any number of requests wait for. */
interface Flight<Result> {
  result: Promise<Result>;
  startedAt: number;
}

export interface SingleFlight<Result> {
  /** The flight under way for the key, else a new one. Whoever joins lends it their priority. */
  board(
    key: string,
    ticket: Ticket,
    work: (ticket: Ticket) => Promise<Result>,
  ): { flight: Flight<Result>; isOurs: boolean };
  count(): number;
}

/** Nobody owns a flight: that a request goes away, or waits no longer, changes nothing for the others. */
export function createSingleFlight<Result>({ now }: { now: () => number }): SingleFlight<Result> {
  const flights = new Map<string, Flight<Result> & { ticket: Ticket }>();

  return {
    board(key, ticket, work) {
      const underWay = flights.get(key);
      if (underWay) {
        raise(underWay.ticket, ticket.priority);
        return { flight: underWay, isOurs: false };
      }
      const result = work(ticket).finally(() => flights.delete(key));
      // Perhaps nobody waits any longer when it fails.
      result.catch(() => {});
      const flight = { result, startedAt: now(), ticket };
      flights.set(key, flight);
      return { flight, isOurs: true };
    },
    count: () => flights.size,
  };
}

function raise(ticket: Ticket, priority: Priority): void {
  ticket.priority = higherOf(ticket.priority, priority);
}
