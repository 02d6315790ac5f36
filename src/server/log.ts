import { type Logger, pino } from 'pino';

/** Handing a text to the background costs as much as answering a request from the cache. */
const ENOUGH_LETTERS = 16_384;
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

  // Ahead of the listener of pino, which writes what it was passed.
  process.prependListener('exit', passOn);
  const write = (line: string) => {
    lines += line;
    if (lines.length >= ENOUGH_LETTERS) passOn();
    else timer ??= setTimeout(passOn, MAX_WAIT_MS).unref();
  };
  return pino({ level }, { write });
}
