import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.ts';
import { tokenExpired } from '../errors/messages.ts';
import type { Admission, Caller } from './account.ts';
import { quotaDay } from './day.ts';
import {
  type Allowance,
  allowancesOf,
  allowsOrigin,
  eventCounter,
  findRefusal,
  type Grant,
  isExpired,
  type KeyEvent,
  visitorOf,
} from './grant.ts';
import type { ApiKey } from './keys.ts';
import type { Quota } from './quota.ts';

const SECRET_KEY_IN_BROWSER =
  'This secret key was sent from a web page, where anyone can read it. Use a publishable key there: create one at /keys.';

export type SharedKeys = ReturnType<typeof createSharedKeys>;

/**
 * Rules that apply only to publishable keys and tokens, which others may read: their grant, allowances and the origin in the
 * response. Refusals are counted for the owner to see.
 */
export function createSharedKeys({ quota, now, ownOrigin }: { quota: Quota; now: () => number; ownOrigin?: string }) {
  function recordEvent({ keyInUse }: FastifyRequest, event: KeyEvent): void {
    if (keyInUse) quota.recordEvent(keyInUse.accountId, eventCounter(keyInUse.hash, quotaDay(now()), event));
  }

  return {
    /**
     * Stores the request's grant: that of its token, else that of its publishable key. Returns why it does not allow the request;
     * null if it does, or for a secret key.
     */
    enter(request: FastifyRequest, key: ApiKey, caller: Caller): ApiError | null {
      const grant = key.grant ?? caller.grant;
      if (!grant) return null;
      request.granted = { grant, visitor: key.grant?.id ?? visitorOf(key, request.ip) };
      const refused = findRefusal(grant, request, now());
      if (refused && refused.reason !== 'expired') recordEvent(request, refused.reason);
      return refused?.error ?? null;
    },
    /** The allowances that a request must fit into this hour. */
    allowancesOf({ granted, keyInUse }: FastifyRequest): Allowance[] {
      return granted && keyInUse ? allowancesOf(keyInUse, granted.grant, granted.visitor, now()) : [];
    },
    /** Throws if the token has expired. */
    expectUnexpired({ granted }: FastifyRequest): void {
      if (granted && isExpired(granted.grant, now())) throw tokenExpired(null);
    },
    /** Counts which limit refused callers. */
    recordRefusal(request: FastifyRequest, { kind, refusedBy }: Admission): void {
      if (!request.granted || kind !== 'exhausted' || refusedBy === 'token') return;
      recordEvent(request, refusedBy === 'key' ? 'share' : (refusedBy ?? 'account'));
    },
    recordThrottled(request: FastifyRequest, { code }: ApiError): void {
      if (code === 'VISITOR_LIMIT_EXCEEDED') recordEvent(request, 'visitor');
    },
    /**
     * Lets scripts of an allowed origin read the response. Warns if a secret key came from another site's page, where anyone can
     * read it.
     */
    writeHeaders(request: FastifyRequest, reply: FastifyReply): void {
      const { granted, keyInUse, admission, headers } = request;
      if (granted) nameOrigin(headers.origin, reply, granted.grant);
      const isForeign = headers.origin !== undefined && headers.origin !== ownOrigin;
      if (granted || keyInUse?.kind !== 'live' || !isForeign) return;
      reply.header('x-key-warning', SECRET_KEY_IN_BROWSER);
      if (admission?.kind === 'admitted') recordEvent(request, 'browser');
    },
  };
}

/** A cache must not serve the response to a page of another origin. */
function nameOrigin(origin: string | undefined, reply: FastifyReply, { origins }: Grant): void {
  if (!origins) return;
  reply.vary('Origin');
  if (origin !== undefined && allowsOrigin(origins, origin)) reply.header('access-control-allow-origin', origin);
}
