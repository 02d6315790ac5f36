import type { FastifyBaseLogger } from 'fastify';

type Make = () => FastifyBaseLogger;
type Line = Parameters<FastifyBaseLogger['info']>;

/**
 * The logger of a request, which names the request in each line. It is made with its first line: most requests have none
 * but the one of `request-log.ts`, and making a logger costs as much as writing a line.
 */
export function createRequestLogger(parent: FastifyBaseLogger, ...child: Parameters<FastifyBaseLogger['child']>) {
  return new LateLogger(() => parent.child(...child)) as unknown as FastifyBaseLogger;
}

/** A class, because the methods of a million requests are to be the same functions. */
class LateLogger {
  #make: Make;
  #made: FastifyBaseLogger | null = null;

  constructor(make: Make) {
    this.#make = make;
  }

  get #logger(): FastifyBaseLogger {
    this.#made ??= this.#make();
    return this.#made;
  }

  child(...args: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#logger.child(...args);
  }

  fatal(...line: Line): void {
    this.#logger.fatal(...line);
  }

  error(...line: Line): void {
    this.#logger.error(...line);
  }

  warn(...line: Line): void {
    this.#logger.warn(...line);
  }

  info(...line: Line): void {
    this.#logger.info(...line);
  }

  debug(...line: Line): void {
    this.#logger.debug(...line);
  }

  trace(...line: Line): void {
    this.#logger.trace(...line);
  }
}
