import { IncomingMessage } from 'node:http';

/** A method that Node does not document. */
interface RequestMethods {
  /** Ends the stream of the body without events. */
  _dumpAndCloseReadable(): void;
}

const { _dumpAndCloseReadable: endStream } = IncomingMessage.prototype as unknown as RequestMethods;

/**
 * A request whose stream is at its end from the start if it is a GET without a body: reading it would be a large part of a hit. Needs
 * `optimizeEmptyRequests`. Other methods keep their stream, because a parser waits for its end even if the body is empty.
 */
export class EndedRequest extends IncomingMessage implements RequestMethods {
  _dumpAndCloseReadable(): void {
    if (this.method === 'GET') endStream.call(this);
  }
}
