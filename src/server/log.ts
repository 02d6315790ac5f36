import { type Logger, pino } from 'pino';

/** A write costs more than making a line. */
const ENOUGH_LETTERS = 16_384;
const MAX_WAIT_MS = 100;

/**
 * Lines are written many at once: at the latest after a tenth of a second, and when the process exits. Writes are
 * synchronous: those of a thread were lost when a process ended on a busy machine. The file is standard output unless
 * given.
 */
export function openLog(level: string, file?: string): Logger {
  const destination = pino.destination({ sync: true, ...(file && { dest: file }) });
  let lines = '';
  let timer: NodeJS.Timeout | null = null;

  function passOn(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (lines) destination.write(lines);
    lines = '';
  }

  process.once('exit', passOn);
  const write = (line: string) => {
    lines += line;
    if (lines.length >= ENOUGH_LETTERS) passOn();
    else timer ??= setTimeout(passOn, MAX_WAIT_MS).unref();
  };
  return pino({ level }, { write });
}
