import { hostname } from 'node:os';
import { crc32 } from 'node:zlib';
import { DateTime } from 'luxon';
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS, within } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { MissingTimetable } from '../../transit/missing-timetable.ts';
import { SYDNEY } from '../../transit/region.ts';
import { type FileId, SCHEDULE_FILES } from '../schedule-files.ts';
import type { Timetable } from '../timetable.ts';
import type { ScheduleSource } from './download.ts';
import { type FileState, type FileStates, loadStates, newestSignature, openNewest } from './folder.ts';
import { type UpdateProgress, updateTimetable } from './update.ts';

/** `off`: no timetable. `auto`: used where it has proved accurate. `on`: used wherever possible. */
export const TIMETABLE_MODES = ['off', 'auto', 'on'] as const;
export type TimetableMode = (typeof TIMETABLE_MODES)[number];

/** The timetable for code that only reads it. */
export interface TimetableInUse {
  /** Null while there is none. A request may keep using the one that it got. */
  get(): Timetable | null;
}

/** The timetable of the running service, which is replaced while the service runs. */
export interface CurrentTimetable extends TimetableInUse {
  /** Calls `listener` after each replacement, and with the first timetable if that is loaded later. */
  onChange(listener: (timetable: Timetable) => void): void;
  /** Why `get` returns null, and until when. */
  missing(): MissingTimetable;
  /** Resolves when there is a timetable, or the update after the start has ended without one. */
  whenTried(): Promise<void>;
  /** Waits for `prepare`, at most `PREPARED_MS`, before a timetable comes into use. */
  beforeChange(prepare: (timetable: Timetable) => Promise<void>): void;
  status(): TimetableStatus;
  close(): Promise<void>;
}

/** The state of the local timetable, for the status page and the metrics. */
export interface TimetableStatus {
  mode: TimetableMode;
  /** Milliseconds since 1970; null while there is no timetable. */
  importedAt: number | null;
  isUpdating: boolean;
  files: readonly (FileState & { id: FileId })[];
}

/** For a service without a timetable (TIMETABLE=off). */
export const noTimetable: CurrentTimetable = {
  get: () => null,
  onChange() {},
  missing: () => ({ reason: 'off' }),
  whenTried: async () => {},
  beforeChange() {},
  status: () => ({ mode: 'off', importedAt: null, isUpdating: false, files: [] }),
  close: async () => {},
};

/** Nightly updates begin between 02:00 and 05:00 in Sydney. Upstream publishes from 01:00 to 02:00. */
const NIGHT_STARTS_AT_MINUTE = 2 * 60;
const NIGHT_MINUTES = 3 * 60;
/**
 * Files checked more recently than this are not checked again. At night, another instance that shares the folder may have done
 * it; starts can follow each other quickly.
 */
const FRESH_MS = { night: NIGHT_MINUTES * MINUTE_MS, start: 12 * HOUR_MS, retry: 0 };
/** How long a new timetable waits for the preparations of `beforeChange`. */
const PREPARED_MS = 10 * SECOND_MS;
/** How long until failed downloads are retried. */
const RETRY_MS = 3 * HOUR_MS;
/** An estimate for a first update, until its first files show its speed. */
const FIRST_UPDATE_MS = 2 * MINUTE_MS;
const MIN_LEFT_MS = 5 * SECOND_MS;

/**
 * Opens the newest timetable of the folder and keeps it current. It runs an update after the start and once a night, and checks
 * once a minute for one made by another process.
 */
export async function followUpdates(options: {
  folder: string;
  mode: TimetableMode;
  source: ScheduleSource;
  wanted: readonly FileId[];
  isBundleLast: boolean;
  clock: Clock;
  log: Log<'info' | 'warn' | 'error'>;
}): Promise<CurrentTimetable> {
  const { folder, mode, source, wanted, isBundleLast, clock, log } = options;
  const listeners: ((timetable: Timetable) => void)[] = [];
  const preparations: ((timetable: Timetable) => Promise<void>)[] = [];
  const closing = new AbortController();
  let timetable: Timetable | null = null;
  let loadedSignature: string | null = null;
  let states: FileStates = new Map();
  let update: Promise<void> | null = null;
  let cancelLook = () => {};
  let cancelUpdate = () => {};
  let nextUpdateAt = clock.now();
  let isUpdatingElsewhere = false;
  const tried = Promise.withResolvers<void>();
  /** The first pass has two steps for each file: download and read. */
  const isFirst = (id: FileId) => !SCHEDULE_FILES[id].standsInFor && !(isBundleLast && SCHEDULE_FILES[id].isBundle);
  const steps = 2 * wanted.filter(isFirst).length;
  let progress = { startedAt: clock.now(), stepAt: clock.now(), begun: 0 };

  function countStep({ kind }: UpdateProgress): void {
    if (kind !== 'fetching' && kind !== 'reading') return;
    progress.stepAt = clock.now();
    progress.begun++;
  }

  /** The milliseconds that the update still takes, if the remaining steps take as long as those done. */
  function leftOfUpdate(): number {
    const { startedAt, stepAt, begun } = progress;
    const done = Math.min(begun - 1, steps);
    const leftAtStep = done < 1 ? FIRST_UPDATE_MS : ((stepAt - startedAt) / done) * (steps - done);
    return leftAtStep - (clock.now() - stepAt);
  }

  /** Loads the newest timetable, unless it is already in use. */
  async function openNewestImport(): Promise<void> {
    states = await loadStates(folder);
    const signature = await newestSignature(folder);
    if (signature === loadedSignature) return;
    loadedSignature = signature;
    const newest = await openNewest(folder, (file, reason) => log.warn({ file, reason }, 'a timetable cannot be read'));
    if (!newest || newest.importedAt === timetable?.importedAt || closing.signal.aborted) return;
    const prepared = Promise.all(preparations.map((prepare) => prepare(newest)));
    await within(PREPARED_MS, prepared, () => new Error(`not prepared within ${PREPARED_MS} ms`)).catch((err: Error) =>
      log.warn({ err }, 'a new timetable comes into use unprepared'),
    );
    timetable = newest;
    log.info({ files: newest.files.length, stops: newest.stopCount, trips: newest.tripCount }, 'timetable in use');
    for (const listener of listeners) listener(newest);
    tried.resolve();
  }

  function checkLater(): void {
    const check = () => {
      openNewestImport()
        .catch((err: Error) => log.error({ err }, 'cannot check for a new timetable'))
        .finally(checkLater);
    };
    cancelLook = clock.after(MINUTE_MS, check, { isBackground: true });
  }

  async function run(from: ScheduleSource | null): Promise<boolean> {
    const { signal } = closing;
    const hasTimetable = timetable !== null;
    progress = { startedAt: clock.now(), stepAt: clock.now(), begun: 0 };
    const progressing = { onProgress: countStep, now: clock.now, log, signal };
    const update = { folder, source: from, wanted, isBundleLast, hasTimetable, ...progressing };
    const outcomes = await updateTimetable(update);
    isUpdatingElsewhere = outcomes === null;
    await openNewestImport();
    return (outcomes ?? []).some(({ outcome }) => outcome === 'failed');
  }

  async function updateNow(trigger: keyof typeof FRESH_MS): Promise<void> {
    let isIncomplete = false;
    try {
      // Another process may have imported a timetable already.
      await openNewestImport();
      // After an upgrade of the service, the zips may already be there.
      if (!timetable && [...states.values()].some(({ good }) => good)) await run(null);
      const checkedAt = Math.max(...[...states.values()].map((state) => state.checkedAt), 0);
      const isFresh = timetable !== null && clock.now() - checkedAt < FRESH_MS[trigger];
      if (!isFresh) isIncomplete = await run(source);
    } catch (err) {
      if (closing.signal.aborted) return;
      isIncomplete = true;
      log.error({ err }, 'the timetable could not be updated');
    }
    const untilNight = nextNight(clock.now(), folder) - clock.now();
    if (isUpdatingElsewhere && !timetable) schedule(MINUTE_MS, 'start');
    else if (isIncomplete && RETRY_MS < untilNight) schedule(RETRY_MS, 'retry');
    else schedule(untilNight, 'night');
  }

  function schedule(delayMs: number, trigger: keyof typeof FRESH_MS): void {
    if (closing.signal.aborted) return;
    nextUpdateAt = clock.now() + delayMs;
    const start = () => {
      update = updateNow(trigger).finally(() => {
        update = null;
        if (!closing.signal.aborted) tried.resolve();
      });
    };
    cancelUpdate = clock.after(delayMs, start, { isBackground: true });
  }

  await openNewestImport();
  checkLater();
  schedule(0, 'start');

  return {
    get: () => timetable,
    onChange: (listener) => listeners.push(listener),
    missing() {
      const isUpdating = update !== null || nextUpdateAt <= clock.now();
      const leftMs = isUpdating ? leftOfUpdate() : nextUpdateAt - clock.now();
      const seconds = Math.ceil(Math.max(leftMs, MIN_LEFT_MS) / SECOND_MS);
      return { reason: isUpdating || isUpdatingElsewhere ? 'loading' : 'failed', seconds };
    },
    whenTried: () => tried.promise,
    beforeChange: (prepare) => preparations.push(prepare),
    status: () => ({
      mode,
      importedAt: timetable?.importedAt ?? null,
      isUpdating: update !== null,
      files: [...states].map(([id, state]) => ({ id, ...state })),
    }),
    async close() {
      closing.abort();
      cancelLook();
      cancelUpdate();
      await update;
    },
  };
}

/** When the next nightly update runs; the time differs between machines. */
export function nextNight(now: number, folder: string, machine = hostname()): number {
  const minute = NIGHT_STARTS_AT_MINUTE + (crc32(`${machine} ${folder}`) % NIGHT_MINUTES);
  const local = DateTime.fromMillis(now, { zone: SYDNEY });
  const at = { hour: Math.floor(minute / 60), minute: minute % 60, second: 0, millisecond: 0 };
  const today = local.set(at).toMillis();
  return today > now ? today : local.plus({ days: 1 }).set(at).toMillis();
}
