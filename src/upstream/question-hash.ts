import { hash } from 'node:crypto';

/** A short name of a request for maps that callers can fill: the text of a request may be kilobytes long. */
export function hashOf(request: string): string {
  return hash('sha256', request, 'base64url').slice(0, 22);
}
