import { type Logger, pino } from 'pino';

/** Handing a text to the background costs as much as answering a request from the cache. */
const ENOUGH_LETTERS = 8192;
const MAX_WAIT_MS = 100;

/**
 * Lines are written in the background, many at once: at the latest after a tenth of a second, and when the process exits.
 * The file is standard output unless given.
 */
export function openLog(level: string, file?: string): Logger {
  const destination = pino.destination({ sync: false, ...(file && { dest: file }) });
  let lines = '';
  let timer: NodeJS.Timeout | null = null;

  function passOn(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (lines) destination.write(lines);
    lines = '';
  }

  function flushSync(): void {
    passOn();
    destination.flushSync();
  }

  process.prependListener('exit', flushSync);
  const write = (line: string) => {
    lines += line;
    if (lines.length >= ENOUGH_LETTERS) passOn();
    else timer ??= setTimeout(passOn, MAX_WAIT_MS).unref();
  };
  // pino calls `flushSync` after a line of the level "fatal".
  return pino({ level }, { write, flushSync } as pino.DestinationStream);
}
