import { parentPort, workerData } from 'node:worker_threads';
import { Snapshot } from '../../realtime/snapshot.ts';
import { Timetable } from '../../timetable/timetable.ts';
import type {
  LinePunctuality,
  PunctualityQuery,
  PunctualityState,
  Usual,
  UsualLookup,
} from '../../transit/punctuality.ts';
import { makeUpRuns } from './made-up-runs.ts';
import type { FinishedRun } from './recorder.ts';
import { RunRecord } from './run-record.ts';

/*
 * The program of the thread that records past runs (see punctuality.ts). Every message has the time of the service's clock.
 * Timetables and snapshots are shared buffers, which it opens without copying.
 */

/** The `workerData` of the thread; `path` is the file of the record. */
export interface ThreadOptions {
  path: string;
  /** Whether an empty record begins with made-up days, as in the sandbox. */
  isSandbox: boolean;
}

/** Requests with an `id` get a reply with the same one. */
export type ThreadRequest = { now: number } & (
  | { kind: 'timetable'; packed: SharedArrayBuffer }
  | { kind: 'snapshot'; packed: SharedArrayBuffer }
  | { kind: 'write' }
  | { kind: 'find'; id: number; query: PunctualityQuery }
  | { kind: 'usual'; id: number; lookups: readonly UsualLookup[] }
  | { kind: 'close'; id: number }
);

export type ThreadReply =
  | { state: PunctualityState }
  | { id: number; found: LinePunctuality | (Usual | null)[] | null }
  | { id: number; problem: string };

const { path, isSandbox } = workerData as ThreadOptions;
const record = new RunRecord({ path });
const reply = (message: ThreadReply) => parentPort?.postMessage(message);
reply({ state: record.state() });

parentPort?.on('message', (request: ThreadRequest) => {
  const { now } = request;
  if ('id' in request) {
    try {
      reply({ id: request.id, found: answer(request) });
    } catch (error) {
      reply({ id: request.id, problem: (error as Error).message });
    }
    return;
  }
  if (request.kind === 'snapshot') record.record(new Snapshot(request.packed));
  else if (request.kind === 'write') record.write(now);
  else useTimetable(request.packed, now);
  if (request.kind !== 'snapshot') reply({ state: record.state() });
});

function answer(request: Extract<ThreadRequest, { id: number }>): LinePunctuality | (Usual | null)[] | null {
  if (request.kind === 'find') return record.find(request.query, request.now);
  if (request.kind === 'usual') return request.lookups.map((lookup) => record.findUsual(lookup, request.now));
  record.close(request.now);
  return null;
}

function useTimetable(packed: SharedArrayBuffer, now: number): void {
  const timetable = new Timetable(packed);
  record.use(timetable, now);
  if (isSandbox && record.isEmpty) addNext(makeUpRuns(timetable, now), now);
}

/** Adds one made-up day and schedules the next, so that waiting requests come first. */
function addNext(days: Generator<FinishedRun[]>, now: number): void {
  const { value: runs } = days.next();
  if (!runs) return;
  record.add(runs);
  record.write(now);
  setTimeout(addNext, 10, days, now);
}
