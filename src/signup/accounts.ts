import type { Accounts } from '../access/store.ts';
import { ApiError } from '../errors/api-error.ts';

/** The same accounts, with every failure of the store as an error 503. */
export function failAsUnavailable(accounts: Accounts): Accounts {
  return new Proxy(accounts, {
    get: (store, name) => {
      const method: unknown = Reflect.get(store, name);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        try {
          return await method.apply(store, args);
        } catch (cause) {
          throw new ApiError(
            'SERVICE_UNAVAILABLE',
            'The account store does not answer right now. Try again in a moment.',
            { cause, headers: { 'retry-after': '30' } },
          );
        }
      };
    },
  });
}
