import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';

/**
 * A form of ours is sent by a page of ours, or by no page at all (`curl`). There is no cookie that a foreign page could
 * misuse, but it could have its visitors ask for mails.
 */
export function refuseForeignForms(request: FastifyRequest, publicUrl: string): void {
  const { origin, 'sec-fetch-site': site, host } = request.headers;
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  const isOwnOrigin = origin === undefined || origin === new URL(publicUrl).origin || hostOf(origin) === host;
  if (isOwnSite && isOwnOrigin) return;
  throw new ApiError(
    'INVALID_PARAMETER',
    'This form was sent from another site. Open the page here and send it again.',
  );
}

function hostOf(origin: string): string | undefined {
  return URL.parse(origin)?.host;
}
