import { once } from 'node:events';
import { createServer } from 'node:net';
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';

/** The result of `run`. An error of the expected kind is told in words, without a stack, and the process exits. */
export function orExit<Result>(
  run: () => Result,
  { expected, intro = '' }: { expected: new (message: string) => Error; intro?: string },
): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof expected)) throw error;
    process.stderr.write(`${intro}${error.message}\n`);
    process.exit(1);
  }
}

/** Ends the process with a line that says why, when the port is taken: before anything is opened that would have to be closed. */
export async function expectFreePort(host: string, port: number, variable: string): Promise<void> {
  const probe = createServer();
  probe.listen({ host, port });
  await once(probe, 'listening').catch((error) => cannotListen(error, variable, port));
  probe.close();
  await once(probe, 'close');
}

export function cannotListen({ code, message }: NodeJS.ErrnoException, variable: string, port: number): never {
  const reason = code === 'EADDRINUSE' ? `Port ${port} is in use, perhaps by another start of this service` : message;
  process.stderr.write(`${reason}. Stop that, or set ${variable} to another port.\n`);
  process.exit(1);
}

/**
 * Closes and exits on a signal, or after an error that nothing caught; at the latest after `delay` ms. A second signal
 * ends the process at once, but for SIGTERM: supervisors repeat it, and what the first one promised to finish must not be
 * dropped.
 */
export function closeOnSignal(
  { delay, logger }: { delay: number; logger: Logger },
  closeAll: () => Promise<void>,
): void {
  let isClosing = false;
  const { close } = closeWithGrace({ delay, logger, skip: ['SIGTERM'] }, async ({ err, signal }) => {
    isClosing = true;
    if (err) logger.fatal({ err }, 'stopping after an error that nothing caught');
    else logger.info({ signal: signal ?? 'SIGTERM' }, 'stopping: finishing the requests in flight');
    await closeAll();
  });
  process.on('SIGTERM', () => {
    if (isClosing) logger.info('SIGTERM again: still finishing the requests in flight');
    else close();
  });
}

/** How many files and connections the process may open. */
export function maxDescriptors(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const limit = Number(userLimits?.open_files?.soft);
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}
