import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MINUTE_MS } from '../clock.ts';
import { ConfigError, readStopSource } from '../config.ts';
import { AuthorityHttp } from '../efa/authority-http.ts';
import { completeFrom, findImplausible, readNewest, stopsFile, writeStopsFile } from '../stops/file.ts';
import { type GtfsStops, readGtfs } from '../stops/gtfs.ts';
import { UsageError } from './command.ts';

const OPTIONS = {
  zip: { type: 'string' },
  force: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const USAGE = `npm run stops -- show               the list of stops in use: how many, from when, from where
npm run stops -- update [options]   renews it from the authority's GTFS, with UPSTREAM_API_KEY
  --zip FILE   from a GTFS file that is here already
  --force      takes a list that looks implausible

Exit codes: 0 done, 1 refused or failed (the list in use stays), 2 usage or configuration.
`;

/** The path replaces the trip planner's own in its address. */
const GTFS_PATH = '/v1/publictransport/timetables/complete/gtfs';
const TRIP_PLANNER_PATH = /\/v1\/tp$/;
/** The authority's file has some 300 MB. */
const MAX_ZIP_BYTES = 1e9;
const DOWNLOAD_MS = 15 * MINUTE_MS;
/** Reading takes a minute or two. */
const READ_MS = 10 * MINUTE_MS;
const CONNECT_MS = 10_000;
const ATTRIBUTION = 'Transport for NSW, CC BY 4.0';

/** Runs one command and returns the exit code of the process. */
export async function runStops(
  args: string[],
  surroundings: {
    env: NodeJS.ProcessEnv;
    print: (text: string) => void;
    now: () => Date;
    /** How long reading the file may take. */
    readMs?: number;
  },
): Promise<0 | 1 | 2> {
  const { env, print, now, readMs = READ_MS } = surroundings;
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [command, ...more] = positionals;
    if (values.help || command === undefined) {
      print(USAGE);
      return 0;
    }
    if (!['show', 'update'].includes(command) || more.length > 0) {
      throw new UsageError(`${positionals.join(' ')} is no command.\n\n${USAGE}`);
    }
    const source = readStopSource(env);
    const before = readNewest(source.dataDir, {
      warn: ({ reason }: { reason?: string }, text) => print(`${text}: ${reason}`),
    });
    if (command === 'show') {
      print(`${before.size} stops of ${before.source.dataDate}: ${before.source.source}`);
      return 0;
    }
    if (values.zip === undefined && source.apiKey === null) {
      throw new UsageError('UPSTREAM_API_KEY must be set, or --zip must name a GTFS file.');
    }
    const read =
      values.zip === undefined ? await download(source, now, readMs) : await readGtfs(values.zip, now(), readMs);
    if (read.dataDate < before.source.dataDate) {
      print(`Refused; the list in use stays. It is of ${before.source.dataDate}, the file of ${read.dataDate}.`);
      return 1;
    }
    const problem = findImplausible(read, before);
    if (problem && !values.force) {
      print(`Refused; the list in use stays. ${problem} With --force it is taken all the same.`);
      return 1;
    }
    const stops = completeFrom(before, read.stops);
    await writeStopsFile(source.dataDir, stops, { dataDate: read.dataDate, source: ATTRIBUTION });
    print(
      `${stops.length} stops of ${read.dataDate} in ${stopsFile(source.dataDir)}; before ${before.size} of ${before.source.dataDate}.`,
    );
    if (read.broken > 0) print(`Left out: ${read.broken} records without a usable identifier, name or position.`);
    return 0;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const isUsage = error instanceof UsageError || error instanceof ConfigError || code?.startsWith('ERR_PARSE_ARGS');
    print(isUsage ? message : `Failed; the list in use stays: ${message}`);
    return isUsage ? 2 : 1;
  }
}

/** Keeps the file in `dataDir` while it is read. */
async function download(
  { url, apiKey, dataDir }: ReturnType<typeof readStopSource>,
  now: () => Date,
  readMs: number,
): Promise<GtfsStops> {
  const http = new AuthorityHttp({
    url: url.replace(TRIP_PLANNER_PATH, ''),
    connections: 1,
    connectTimeoutMs: CONNECT_MS,
    headers: { accept: 'application/octet-stream' },
    maxBytes: MAX_ZIP_BYTES,
    now,
  });
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, `gtfs.zip.${process.pid}`);
  try {
    await http.download(GTFS_PATH, { apiKey: apiKey ?? '', timeoutMs: DOWNLOAD_MS }, file);
    return await readGtfs(file, now(), readMs);
  } finally {
    await rm(file, { force: true });
    await http.close();
  }
}

/** `npm run stops -- show | update` */
if (import.meta.main) {
  process.exitCode = await runStops(process.argv.slice(2), {
    env: process.env,
    print: (text) => process.stdout.write(`${text}\n`),
    now: () => new Date(),
  });
}
