import type { Writable } from 'node:stream';
import { ownBytes } from '../../core/own-memory.ts';
import { type ApiError, errorBody } from '../../errors/api-error.ts';
import type { FinishedResponse } from '../../operations/finished-response.ts';
import type { Operation } from '../../operations/operation.ts';

/*
 * Events have the form of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): fields of one
 * line each, and a blank line after each event. JSON has no line breaks, so `data` is one line.
 */

/** Readers wait this long before they connect again. */
const RECONNECT_MS = 5000;

const GREETING = Buffer.from(`retry: ${RECONNECT_MS}\n\n`);

/** Ignored by readers. It keeps proxies from closing the connection, and reveals whether the reader is still there. */
const COMMENT = Buffer.from(': still here\n\n');

const boardEvents = new WeakMap<FinishedResponse['body'], Buffer>();

/** Creates the event with the whole response, once for all readers. Its ID is the ETag. */
export function boardEvent({ body }: FinishedResponse, { event: name }: Operation): Buffer {
  const cached = boardEvents.get(body);
  if (cached) return cached;
  const event = ownBytes(`id: ${body.etag}\nevent: ${name}\ndata: ${body.bytes}\n\n`);
  boardEvents.set(body, event);
  return event;
}

/** `failure`: a request failed, and the stream continues. `end`: the last event of the stream. */
export function errorEvent(name: 'failure' | 'end', error: ApiError, docsUrl: string): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(errorBody(error, docsUrl))}\n\n`);
}

const MAX_UNREAD_COMMENTS = 4;
/** A reader has this long to take the last event. */
const LINGER_MS = 2000;

/** Writes events, one at a time, to a response whose headers have been sent. */
export class EventStream {
  readonly #response: Writable;
  #isReading = true;
  #unreadComments = 0;
  #latest: Buffer | null = null;

  constructor(response: Writable) {
    this.#response = response;
    this.#write(GREETING);
  }

  /** Sends an event that replaces pending ones: a slow reader gets only the latest. */
  send(event: Buffer): void {
    this.#latest = event;
    this.#flush();
  }

  /** Sends a comment if the reader has read everything so far. Closes the stream if it has not for more than four comments. */
  comment(): void {
    if (this.#isOver()) return;
    if (this.#isReading) this.#write(COMMENT);
    else if (++this.#unreadComments > MAX_UNREAD_COMMENTS) this.#response.destroy();
  }

  /** Sends the last event and ends the response. Closes the connection if the reader has not taken the event in time. */
  end(event: Buffer): void {
    if (this.#isOver()) return;
    const response = this.#response.end(event);
    // A reader that reads nothing would block the connection forever. After the end, it may serve another request.
    setTimeout(() => response.writableFinished || response.destroy(), LINGER_MS).unref();
  }

  /** Writing to a finished response would throw. */
  #isOver(): boolean {
    return this.#response.writableEnded || this.#response.destroyed;
  }

  #write(bytes: Buffer): void {
    this.#isReading = false;
    this.#response.write(bytes, () => {
      this.#isReading = true;
      this.#unreadComments = 0;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#isReading || this.#latest === null || this.#isOver()) return;
    const event = this.#latest;
    this.#latest = null;
    this.#write(event);
  }
}
