import { ApiError } from '../errors/api-error.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { StopRegister } from './register.ts';

/** The freshness of what the register says in place of the error; it is as old as the data. Throws any other error again. */
export function freshnessInPlaceOf(error: unknown, register: StopRegister, now: Date): Freshness {
  if (!(error instanceof ApiError)) throw error;
  const retrievedAt = Math.min(Date.parse(register.dataDate), now.getTime());
  return {
    retrievedAt,
    freshUntil: retrievedAt,
    staleUntil: retrievedAt,
    source: 'cache',
    shortage: error.isForWantOfCalls ? 'busy' : 'failing',
  };
}
