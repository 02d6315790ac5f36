import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Config, parseConfig } from '../config.ts';
import type { ExplainedBoard } from '../realtime/explain-board.ts';
import { NoResponse, operatorFolder, queryService } from '../server/operator-socket.ts';
import { openScheduleSource } from '../server/schedule-source.ts';
import { describeLeftOut } from '../timetable/import/left-out.ts';
import { type FileId, filesFor, isFileId } from '../timetable/schedule-files.ts';
import { folderSource, type ScheduleSource } from '../timetable/update/download.ts';
import { loadStates, openNewest, timetableFolder } from '../timetable/update/folder.ts';
import { type FileOutcome, type UpdateProgress, updateTimetable } from '../timetable/update/update.ts';
import { createSharedMeters, protectUpstream } from '../upstream/protection.ts';
import { allowEarlyEnd, openSilentRedis, printUsageError, SILENT, UsageError } from './command.ts';
import { describeBoard, describeFeeds, type RunningReport } from './explain.ts';

/**
 * 0: done, 1: at least one file is not up to date, 2: usage or configuration, 3: the key is refused, 5: upstream cannot be
 * reached.
 */
type TimetableExitCode = 0 | 1 | 2 | 3 | 5;

const OPTIONS = {
  from: { type: 'string' },
  accept: { type: 'string', multiple: true },
  complete: { type: 'boolean', default: false },
  arrivals: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const USAGE = `npm run timetable -- update [options]   downloads and imports the schedule files that are new
  --from DIR      takes them from a folder with upstream's paths: DIR/v1/gtfs/schedule/buses.zip
  --accept FILE   takes this file although it has far fewer trips than last time, or does not cover the next three days
  --complete      takes the bundle of all operators too, as TIMETABLE=auto,complete does
npm run timetable -- status [--json]    the files in use, and what is wrong with them; the feeds of a running service, and what of
                                        them is left out, with examples
npm run timetable -- explain STOP [ROUTE] [--arrivals] [--json]
                                        why each departure (or arrival) of a stop has its time: run, update, rule and feed, from a
                                        running service

A running service takes the new timetable within a minute. status and explain query one that uses the same DATA_DIR on this machine.

Exit codes of update: 0 done, 1 at least one file kept its last good import, 2 usage or configuration, 3 the key was refused,
5 upstream cannot be reached. Of explain: 0 done, 1 no service runs or it does not answer, 2 usage or configuration.
`;

interface TimetableSurroundings {
  env: NodeJS.ProcessEnv;
  print: (text: string) => void;
  /** Shows the progress of an import, replacing the previous text; absent without a terminal. */
  show?: (text: string) => void;
  now?: () => number;
  /** Timeouts of downloads and imports, and the maximum zip size. */
  limits?: { downloadMs?: number; importMs?: number; maxBytes?: number };
}

/** Runs one command and returns the exit code of the process. */
export async function runTimetable(args: string[], surroundings: TimetableSurroundings): Promise<TimetableExitCode> {
  const { env, print } = surroundings;
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [command, ...surplus] = positionals;
    if (values.help || command === undefined) print(USAGE);
    else if (command === 'update' && surplus.length === 0) return await update(values, parseConfig(env), surroundings);
    else if (command === 'status' && surplus.length === 0) await printStatus(values, parseConfig(env), surroundings);
    else if (command === 'explain' && surplus.length > 0 && surplus.length < 3) {
      await explain(surplus, values, parseConfig(env), surroundings);
    } else throw new UsageError(`${positionals.join(' ')} is not a command.\n\n${USAGE}`);
    return 0;
  } catch (error) {
    if (error instanceof NoResponse) {
      print(error.message);
      return 1;
    }
    printUsageError(error, print);
    return 2;
  }
}

type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>['values'];

async function update(
  options: Options,
  config: Config,
  surroundings: TimetableSurroundings,
): Promise<TimetableExitCode> {
  const { print, show = () => {}, now = Date.now, limits = {} } = surroundings;
  const folder = folderOf(config);
  const source = await openSource(options, config, surroundings);
  try {
    const outcomes = await updateTimetable({
      folder,
      source,
      wanted: filesFor({ hasBundle: options.complete || config.timetable.hasBundle }),
      isBundleLast: true,
      hasTimetable: (await openNewest(folder)) !== null,
      accepted: new Set(options.accept?.map(toFileId)),
      now,
      // Each file is reported at the end.
      log: { ...SILENT, error: (_, message) => print(message) },
      onProgress: (progress) => show(describeProgress(progress)),
      ...(limits.importMs && { importMs: limits.importMs }),
    });
    show('');
    if (!outcomes) throw new UsageError('Another update is under way. Try again when it is done.');
    for (const outcome of outcomes) print(describeOutcome(outcome));
    const problems = outcomes.filter(({ problem }) => problem !== null);
    print(`${outcomes.length - problems.length} of ${outcomes.length} files are up to date.`);
    return exitCodeOf(outcomes);
  } finally {
    await source.close();
  }
}

/** Blames the key or the network only if every file failed for that reason. */
function exitCodeOf(outcomes: readonly FileOutcome[]): TimetableExitCode {
  const areAll = (failure: FileOutcome['failure']) => outcomes.every((outcome) => outcome.failure === failure);
  if (areAll('key-refused')) return 3;
  if (areAll('unreachable')) return 5;
  return outcomes.some(({ problem }) => problem !== null) ? 1 : 0;
}

/** Opens the file source. Downloads use the call budget, shared with a running service through Redis. */
async function openSource(
  { from }: Options,
  { upstream, upstreamLimits: limits, upstreamProxy: proxyUrl, redisUrls }: Config,
  { limits: bounds, now = Date.now }: TimetableSurroundings,
): Promise<ScheduleSource & { close(): Promise<void> }> {
  if (from !== undefined) {
    if (!existsSync(from)) throw new UsageError(`--from ${from}: there is no such folder.`);
    return { ...folderSource(from), close: async () => {} };
  }
  if (upstream.kind === 'sandbox') throw new UsageError('UPSTREAM_API_KEY must be set, or --from must name a folder.');
  const { url } = upstream;
  const apiKeys = upstream.apiKeys.length > 0 ? upstream.apiKeys : [''];
  const redis = await openSilentRedis(redisUrls);
  const meters = redis ? createSharedMeters(redis, { apiKeys, limits }) : undefined;
  const callByKey = apiKeys.map(() => () => Promise.reject(new Error('only files are downloaded')));
  const { callForFeed } = protectUpstream({ callByKey, limits, log: SILENT, meters });
  const source = openScheduleSource({ url, apiKeys, proxyUrl, callForFeed, now, ...bounds });
  return {
    ...source,
    async close() {
      await source.close();
      redis?.close();
    },
  };
}

async function printStatus(
  { json }: Options,
  config: Config,
  { print, now = Date.now }: TimetableSurroundings,
): Promise<void> {
  const folder = folderOf(config);
  const timetable = await openNewest(folder, (path, reason) => json || print(`${path} cannot be read: ${reason}`));
  const importedAt = timetable && new Date(timetable.importedAt).toISOString();
  const states = [...(await loadStates(folder))].map(([id, state]) => ({ id, ...state }));
  const report = await (queryService(socketsOf(config), '/feeds') as Promise<RunningReport | null>).catch((error) => {
    if (error instanceof NoResponse) return error;
    throw error;
  });
  if (json) {
    const iso = (moment: number) => new Date(moment).toISOString();
    const files = states.map(({ id, checkedAt, currentAt, problem, good }) => ({
      file: id,
      checked_at: iso(checkedAt),
      current_at: iso(currentAt),
      problem,
      in_use: good && { imported_at: iso(good.importedAt), ...good.report },
    }));
    const running = report instanceof NoResponse ? null : report;
    const feeds = running?.feeds.map(({ source, problem, headerAt, leftOut }) => ({
      feed: source,
      problem,
      header_at: headerAt && iso(headerAt),
      left_out: leftOut,
    }));
    print(JSON.stringify({ imported_at: importedAt, folder, files, feeds: feeds ?? null }, null, 2));
    return;
  }
  for (const { id, currentAt, problem, good } of states) {
    const hours = Math.max(0, Math.round((now() - currentAt) / 3_600_000));
    print(
      `${describeFile(id, good?.report ?? null)}${problem ? `\n    not up to date for ${hours} h: ${problem}` : ''}`,
    );
  }
  print(importedAt ? `Imported at ${importedAt}, in ${folder}.` : `There is no timetable in ${folder}.`);
  print('');
  if (!report || report instanceof NoResponse) print(report?.message ?? noServiceFor(config));
  else {
    print(
      `Feeds of the running service, process ${report.pid}:${report.feeds.length === 0 ? ' none is polled now.' : ''}`,
    );
    for (const line of describeFeeds(report)) print(line);
  }
}

/** Prints why the calls of a board have their times. */
async function explain(
  [stopId = '', route]: readonly string[],
  { arrivals: isArrival, json }: Options,
  config: Config,
  { print }: TimetableSurroundings,
): Promise<void> {
  const query = new URLSearchParams({ stop: stopId, ...(route && { route }), ...(isArrival && { arrivals: '' }) });
  const explained = await queryService(socketsOf(config), `/explain?${query}`);
  if (!explained) throw new NoResponse(noServiceFor(config));
  const { board, report } = explained as { report: RunningReport; board: ExplainedBoard | null };
  if (!board) {
    throw new UsageError(
      report.mode === 'off'
        ? 'TIMETABLE is off: all boards come from the trip planner.'
        : `The timetable has no stop ${stopId}. Find IDs with /v1/stops/search.`,
    );
  }
  if (json) print(JSON.stringify({ ...board, feeds: report.feeds }, null, 2));
  else for (const line of describeBoard(board, report)) print(line);
}

function socketsOf({ dataDir, upstream }: Config): string {
  return operatorFolder({ dataDir, isSandbox: upstream.kind === 'sandbox' });
}

function noServiceFor({ dataDir }: Config): string {
  return `No service runs on this machine with DATA_DIR ${dataDir}: its feeds are unknown.`;
}

function folderOf({ dataDir, upstream }: Config): string {
  return timetableFolder(dataDir, { isSandbox: upstream.kind === 'sandbox' });
}

function toFileId(id: string): FileId {
  if (isFileId(id)) return id;
  throw new UsageError(`--accept ${id}: there is no such file. status lists them.`);
}

function describeProgress(progress: UpdateProgress): string {
  if (progress.kind === 'fetching') return `${progress.id}: downloading`;
  if (progress.kind === 'reading') return `${progress.id}: reading`;
  return progress.kind === 'building' ? 'writing the timetable' : '';
}

function describeOutcome({ id, outcome, problem, report }: FileOutcome): string {
  if (problem === null) return `${describeFile(id, report)}${outcome === 'unchanged' ? ' (unchanged)' : ''}`;
  return `${id.padEnd(ID_WIDTH)} ${report ? 'keeps its last good import' : 'is not in use'}: ${problem}`;
}

const ID_WIDTH = 34;

function describeFile(id: FileId, report: FileOutcome['report']): string {
  if (!report) return `${id.padEnd(ID_WIDTH)} is not in use`;
  const { trips, stopTimes, firstDay, lastDay, leftOut } = report;
  const count = (number: number) => number.toLocaleString('en');
  const left = describeLeftOut(leftOut);
  const numbers = `${count(trips)} trips, ${count(stopTimes)} stop times, ${firstDay} to ${lastDay}`;
  return `${id.padEnd(ID_WIDTH)} ${numbers}${left === '' ? '' : `\n    left out: ${left}`}`;
}

/** `npm run timetable -- update | status | explain` */
if (import.meta.main) {
  allowEarlyEnd();
  process.exitCode = await runTimetable(process.argv.slice(2), {
    env: process.env,
    print: (text) => process.stdout.write(`${text}\n`),
    ...(process.stderr.isTTY && { show: (text) => process.stderr.write(`\r\x1b[K${text}`) }),
  });
}
