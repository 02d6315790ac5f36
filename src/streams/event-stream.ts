import { Readable } from 'node:stream';
import { COMMENT, GREETING } from './event.ts';

/** The events of one connection. */
export interface EventStream {
  /** What the reply sends. */
  body: Readable;
  /** An event that makes all earlier ones worthless: a reader that is slow gets the latest only. */
  send(event: Buffer): void;
  /** Closes the stream when its reader has taken nothing for so many comments that it must be gone. */
  comment(): void;
  /** The last event. */
  end(event: Buffer): void;
}

const MAX_UNREAD_COMMENTS = 4;
/** A reader has so long to take the last event. */
const LINGER_MS = 2000;

/** `onClose` is called once, when the stream has ended or its reader has gone. */
export function createEventStream(onClose: () => void): EventStream {
  let isReading = true;
  let isEnded = false;
  let unreadComments = 0;
  let latest: Buffer | null = null;
  const body = new Readable({
    highWaterMark: 1,
    read() {
      isReading = true;
      unreadComments = 0;
      flush();
    },
    destroy(error, callback) {
      isEnded = true;
      onClose();
      callback(error);
    },
  });
  body.push(GREETING);

  function flush(): void {
    if (!isReading || isEnded || latest === null) return;
    const event = latest;
    latest = null;
    isReading = body.push(event);
  }

  return {
    body,
    send(event) {
      latest = event;
      flush();
    },
    comment() {
      if (isEnded) return;
      if (isReading) isReading = body.push(COMMENT);
      else if (++unreadComments > MAX_UNREAD_COMMENTS) body.destroy();
    },
    end(event) {
      if (isEnded) return;
      isEnded = true;
      body.push(event);
      body.push(null);
      // A reader that takes nothing would hold the connection for good.
      setTimeout(() => body.destroy(), LINGER_MS).unref();
    },
  };
}
