import { type ApiError, errorBody } from '../errors/api-error.ts';
import { ownBytes } from '../own-memory.ts';
import type { FinishedResponse } from '../responses/finished-response.ts';

/*
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): fields of one line each, a blank
 * line after each event. JSON has no line breaks, so `data` is one line.
 */

/** How long a reader waits before it connects again. */
const RECONNECT_MS = 5000;

export const GREETING = Buffer.from(`retry: ${RECONNECT_MS}\n\n`);

/** Ignored by readers; it keeps proxies from taking the connection for dead, and shows whether the reader is there. */
export const COMMENT = Buffer.from(': still here\n\n');

const boardEvents = new WeakMap<FinishedResponse['body'], Buffer>();

/** The whole answer, made once for all its readers. Its id is the `ETag`. */
export function boardEvent({ body }: FinishedResponse): Buffer {
  const made = boardEvents.get(body);
  if (made) return made;
  const event = ownBytes(`id: ${body.etag}\nevent: board\ndata: ${body.bytes}\n\n`);
  boardEvents.set(body, event);
  return event;
}

/** `failure`: no answer for now, the stream goes on. `end`: the last event of the stream. */
export function errorEvent(name: 'failure' | 'end', error: ApiError, docsUrl: string): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(errorBody(error, docsUrl))}\n\n`);
}
