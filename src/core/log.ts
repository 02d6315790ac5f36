import { type Logger, pino } from 'pino';

/** The log as a room needs it: a function for each of these levels. */
export type Log<Level extends string = 'info' | 'warn'> = Record<Level, (fields: object, message: string) => void>;

/** A write to the system costs more than making a line. */
const ENOUGH_BYTES = 16_384;
const MAX_WAIT_MS = 100;
/** In UTF-8, of one UTF-16 code unit. */
const MAX_BYTES_OF_A_UNIT = 3;
/** The number of this level in a line of pino. */
const WARN = 40;

/**
 * Lines are written many at once: at the latest after a tenth of a second, and when the process exits, so a killed process
 * loses that tenth. A line written by itself costs 1.4 µs more, 5 % of a Pro hit (bench/README.md, "Hit path").
 * Writes are synchronous: those of a thread were lost when a process ended on a busy machine. The file is standard output
 * unless given. A person at a terminal gets each line at once, and in words.
 */
export function openLog(level: string, file?: string): Logger {
  const serializers = { err: describeError };
  if (!file && process.stdout.isTTY) {
    return pino({ level, serializers }, { write: (line: string) => process.stdout.write(inWords(line)) });
  }
  const destination = pino.destination({ sync: true, ...(file && { dest: file }) });
  // V8 keeps a new line as a tree of small strings. Copying it at once is cheap, while these are in the processor's cache.
  const lines = Buffer.allocUnsafeSlow(2 * ENOUGH_BYTES);
  let used = 0;
  let timer: NodeJS.Timeout | null = null;

  function passOn(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (used > 0) destination.write(lines.toString('utf8', 0, used));
    used = 0;
  }

  process.once('exit', passOn);
  const write = (line: string) => {
    if (line.length * MAX_BYTES_OF_A_UNIT > lines.length - used) {
      passOn();
      if (line.length * MAX_BYTES_OF_A_UNIT > lines.length) return void destination.write(line);
    }
    used += lines.write(line, used);
    if (used >= ENOUGH_BYTES) passOn();
    else timer ??= setTimeout(passOn, MAX_WAIT_MS).unref();
  };
  return pino({ level, serializers }, { write });
}

/** `12:00:01 answered {"method":"GET", …}`; warnings and errors with their level before the message. */
function inWords(line: string): string {
  const { level, time, pid: _, hostname: __, msg, ...fields } = JSON.parse(line);
  const name = level >= WARN ? `${pino.levels.labels[level]?.toUpperCase()} ` : '';
  const details = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : '';
  return `${new Date(time).toLocaleTimeString('en-AU', { hour12: false })} ${name}${msg}${details}\n`;
}

/** Without the command that Redis refused: its arguments are addresses and hashes of keys. */
function describeError(error: Error): object {
  const { command: _, ...described } = pino.stdSerializers.err(error) as pino.SerializedError & { command?: unknown };
  return described;
}
