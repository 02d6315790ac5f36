import { once } from 'node:events';
import { createServer } from 'node:net';
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';

/** Returns the result of `run`. On an error of the expected kind, prints its message without a stack and exits with 1. */
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

/** Exits with a message if the port is in use. Called before opening anything that would need closing. */
export async function expectFreePort(host: string, port: number, variable: string): Promise<void> {
  const probe = createServer();
  probe.listen({ host, port });
  await once(probe, 'listening').catch((error) => cannotListen(error, variable, port));
  probe.close();
  await once(probe, 'close');
}

export function cannotListen({ code, message }: NodeJS.ErrnoException, variable: string, port: number): never {
  const reason =
    code === 'EADDRINUSE' ? `Port ${port} is in use, perhaps by another instance of this service` : message;
  process.stderr.write(`${reason}. Stop that, or set ${variable} to another port.\n`);
  process.exit(1);
}

/**
 * Closes and exits on a signal or an uncaught error, after `delay` ms at the latest. A second signal ends the process at once,
 * except SIGTERM: supervisors repeat it, and requests in flight must still be finished.
 */
export function closeOnSignal(
  { delay, logger }: { delay: number; logger: Logger },
  closeAll: () => Promise<void>,
): void {
  let isClosing = false;
  const { close } = closeWithGrace({ delay, logger, skip: ['SIGTERM'] }, async ({ err, signal }) => {
    isClosing = true;
    if (err) logger.fatal({ err }, 'stopping after an uncaught error');
    else logger.info({ signal: signal ?? 'SIGTERM' }, 'stopping: finishing requests in flight');
    await closeAll();
  });
  process.on('SIGTERM', () => {
    if (isClosing) logger.info('SIGTERM again: still finishing requests in flight');
    else close();
  });
}

/** Returns the process's soft limit of file descriptors; infinity if unlimited or unknown. */
export function maxDescriptors(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const limit = Number(userLimits?.open_files?.soft);
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}
