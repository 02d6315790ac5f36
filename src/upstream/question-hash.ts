import { hash } from 'node:crypto';

/** A short name of a question for maps that callers can fill: the text of a question may be kilobytes long. */
export function hashOf(request: string): string {
  return hash('sha256', request, 'base64url').slice(0, 22);
}
