import { Worker } from 'node:worker_threads';
import { type Clock, MINUTE_MS, SECOND_MS, within } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { serviceUnavailable } from '../../errors/messages.ts';
import type { Snapshot } from '../../realtime/snapshot.ts';
import { identityOf } from '../../realtime/snapshot.ts';
import type { Timetable } from '../../timetable/timetable.ts';
import type { LinePunctuality, Punctuality, PunctualityState, Usual } from '../../transit/punctuality.ts';
import type { ThreadOptions, ThreadReply, ThreadRequest } from './punctuality-thread.ts';
import { WRITE_EVERY_MS } from './run-record.ts';

/** How long boards and journeys wait for the usual lateness. */
const USUAL_PATIENCE_MS = 1 * SECOND_MS;
/** How often feeds are requested. They stay polled for five minutes after each request. */
const TURN_MS = 2 * MINUTE_MS;
const PATIENCE_MS = 10 * SECOND_MS;
const MAX_HEAP_MEGABYTES = 128;
const MAX_YOUNG_MEGABYTES = 4;

/** The thread that records past runs, and answers from the record. */
export interface PunctualityRecord extends Punctuality {
  /** Records a snapshot of a trusted feed. */
  record(snapshot: Snapshot): void;
  /** Calls `requestFeeds` often enough to keep feeds polled that nobody else needs. */
  useFeeds(requestFeeds: () => void): void;
  close(): Promise<void>;
}

/**
 * Records past runs in a thread of its own: the threads that serve requests and read feeds only hand over shared buffers. The
 * thread writes finished runs every ten minutes. If it dies, nothing is recorded until the service restarts.
 */
export function openPunctuality(options: {
  path: string;
  isSandbox: boolean;
  timetable: () => Timetable | null;
  clock: Clock;
  log: Log<'info' | 'warn'>;
}): PunctualityRecord {
  const { path, isSandbox, timetable, clock, log } = options;
  const { now } = clock;
  const worker = new Worker(new URL('./punctuality-thread.ts', import.meta.url), {
    workerData: { path, isSandbox } satisfies ThreadOptions,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES, maxYoungGenerationSizeMb: MAX_YOUNG_MEGABYTES },
  });
  worker.unref();
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let requests = 0;
  let used = '';
  let state: PunctualityState = { since: null, bytes: 0, problem: null };
  let isOver = false;
  let requestFeeds = () => {};
  let writtenAt = now();
  let cancel = clock.after(TURN_MS, turn, { isBackground: true });

  worker.on('message', (reply: ThreadReply) => {
    if ('state' in reply) return setState(reply.state);
    const pending = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('found' in reply) pending?.resolve(reply.found);
    else pending?.reject(new Error(reply.problem));
  });
  worker.on('error', ({ message }) => end(`the thread failed: ${message}`));
  worker.on('exit', () => end('the thread ended'));

  function setState(newest: PunctualityState): void {
    if (newest.problem !== state.problem) {
      if (newest.problem) log.warn({ reason: newest.problem }, 'punctuality is not recorded');
      else log.info({}, 'punctuality is recorded again');
    }
    state = newest;
  }

  function end(problem: string): void {
    if (isOver) return;
    isOver = true;
    cancel();
    setState({ ...state, problem });
    for (const { reject } of waiting.values()) reject(new Error(problem));
    waiting.clear();
  }

  function send(request: ThreadRequest): void {
    if (!isOver) worker.postMessage(request);
  }

  /** Gives the thread the timetable in use, if that has changed. */
  function useTimetable(): void {
    const current = timetable();
    if (!current || identityOf(current) === used) return;
    used = identityOf(current);
    send({ kind: 'timetable', packed: current.packed, now: now() });
  }

  function turn(): void {
    useTimetable();
    requestFeeds();
    if (now() - writtenAt >= WRITE_EVERY_MS) {
      writtenAt = now();
      send({ kind: 'write', now: now() });
    }
    cancel = clock.after(TURN_MS, turn, { isBackground: true });
  }

  type Lookup<Kind extends 'find' | 'usual' | 'close'> = Omit<Extract<ThreadRequest, { kind: Kind }>, 'now' | 'id'>;

  function ask<Found>(request: Lookup<'find'> | Lookup<'usual'> | Lookup<'close'>, patienceMs: number): Promise<Found> {
    if (isOver) return Promise.reject(new Error(state.problem ?? 'the thread ended'));
    useTimetable();
    const pending = Promise.withResolvers<unknown>();
    const id = ++requests;
    waiting.set(id, pending);
    send({ ...request, id, now: now() } as ThreadRequest);
    const late = () => new Error('the record of past runs does not respond');
    return within(patienceMs, pending.promise as Promise<Found>, late).finally(() => waiting.delete(id));
  }

  return {
    record(snapshot) {
      useTimetable();
      send({ kind: 'snapshot', packed: snapshot.packed, now: now() });
    },
    useFeeds(request) {
      requestFeeds = request;
    },
    load: (query) =>
      ask<LinePunctuality>({ kind: 'find', query }, PATIENCE_MS).catch((error: Error) => {
        log.warn({ reason: error.message }, 'punctuality cannot be read');
        throw serviceUnavailable(error);
      }),
    loadUsual: (lookups) =>
      lookups.length === 0
        ? Promise.resolve([])
        : ask<(Usual | null)[]>({ kind: 'usual', lookups }, USUAL_PATIENCE_MS).catch(() => lookups.map(() => null)),
    state: () => state,
    async close() {
      if (isOver) return;
      await ask({ kind: 'close' }, PATIENCE_MS).catch(() => {});
      isOver = true;
      cancel();
      await worker.terminate();
    },
  };
}
