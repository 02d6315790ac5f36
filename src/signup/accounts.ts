import type { Register } from '../access/store.ts';
import { ApiError } from '../errors/api-error.ts';

/** The part of the account store that signup uses. */
export type Accounts = Pick<
  Register,
  | 'openAccount'
  | 'findAccount'
  | 'findAccountByEmail'
  | 'addKey'
  | 'listKeys'
  | 'revokeKey'
  | 'useLink'
  | 'readUsage'
  | 'wantsQuotaMails'
  | 'setQuotaMails'
  | 'claimQuotaMail'
>;

/** The same accounts, with every failure of the store as an error 503. */
export function failAsUnavailable(accounts: Accounts): Accounts {
  return {
    openAccount: guard((account) => accounts.openAccount(account)),
    findAccount: guard((id) => accounts.findAccount(id)),
    findAccountByEmail: guard((email) => accounts.findAccountByEmail(email)),
    addKey: guard((key, maxLive) => accounts.addKey(key, maxLive)),
    listKeys: guard((accountId) => accounts.listKeys(accountId)),
    revokeKey: guard((accountId, keyHash, at, decidedAt) => accounts.revokeKey(accountId, keyHash, at, decidedAt)),
    useLink: guard((accountId, issuedAt) => accounts.useLink(accountId, issuedAt)),
    readUsage: guard((accountId, days) => accounts.readUsage(accountId, days)),
    wantsQuotaMails: guard((accountId) => accounts.wantsQuotaMails(accountId)),
    setQuotaMails: guard((accountId, isWanted) => accounts.setQuotaMails(accountId, isWanted)),
    claimQuotaMail: guard((accountId, day, percent) => accounts.claimQuotaMail(accountId, day, percent)),
  };
}

function guard<Args extends unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await call(...args);
    } catch (cause) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'The account store does not answer right now. Try again in a moment.', {
        cause,
        headers: { 'retry-after': '30' },
      });
    }
  };
}
