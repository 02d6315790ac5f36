import { readFileSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, MINUTE_MS } from '../clock.ts';
import type { Log } from '../log.ts';
import { distanceMetres } from '../transit/place.ts';
import type { GtfsStops } from './gtfs.ts';
import type { StopRegister } from './register.ts';
import { readTable, type StopRecord, type StopTable, writeTable } from './table.ts';

/** A renewed list in which fewer of the stops are left is taken for another one, or for a part. */
const LEAST_KEPT = 0.9;
/** More records without a usable identifier, name or position are a broken file. */
const MOST_BROKEN = 0.1;
/** Few stops move at all, and none that far. */
const FAR_METRES = 2000;
const MOST_FAR = 0.02;

const BUILT_IN = new URL('./stops-nsw.tsv.gz', import.meta.url);

/** The stops of New South Wales that are part of the service; README.md says where they are from. */
export function readBuiltIn(): StopTable {
  return readTable(readFileSync(BUILT_IN));
}

/** The list that `npm run stops -- update` writes. */
export function stopsFile(dataDir: string): string {
  return join(dataDir, 'stops.tsv.gz');
}

/** The renewed list, or the built-in one where there is none, where it cannot be read, and where it is older. */
export function readNewest(dataDir: string, log: Log<'warn'>): StopTable {
  const builtIn = readBuiltIn();
  const renewed = readRenewed(dataDir, log);
  return renewed && renewed.source.dataDate >= builtIn.source.dataDate ? renewed : builtIn;
}

/** Looks once a minute whether the list was renewed, and takes it. Returns what ends that. */
export function followRenewals(
  register: StopRegister,
  dataDir: string,
  { clock, log }: { clock: Clock; log: Log },
): () => void {
  let seen = signatureOf(stopsFile(dataDir));
  let cancel = clock.after(MINUTE_MS, look);

  function look(): void {
    cancel = clock.after(MINUTE_MS, look);
    const signature = signatureOf(stopsFile(dataDir));
    if (signature === seen) return;
    seen = signature;
    const table = readNewest(dataDir, log);
    register.replace(table);
    log.info({ stops: table.size, dataDate: table.source.dataDate }, 'the list of stops was renewed');
  }

  return () => cancel();
}

/** Another file has another one; null where there is none. */
function signatureOf(file: string): string | null {
  const { ino, mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return ino === undefined ? null : `${ino} ${mtimeMs} ${size}`;
}

function readRenewed(dataDir: string, log: Log<'warn'>): StopTable | null {
  try {
    return readTable(readFileSync(stopsFile(dataDir)));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') log.warn({ reason: message }, 'the renewed list of stops cannot be read');
    return null;
  }
}

/** Why the list should not take the place of the one before, as a sentence; null where it may. */
export function findImplausible({ stops, broken }: GtfsStops, before: StopTable): string | null {
  const after = new Map(stops.map((stop) => [stop.stop_id, stop]));
  if (broken > MOST_BROKEN * (stops.length + broken)) {
    return `${broken} of ${stops.length + broken} records have no usable identifier, name or position.`;
  }
  let [known, kept, far] = [0, 0, 0];
  for (const old of before) {
    // The built-in list lacks most platforms, so they say little about whether a list is whole.
    if (old.is_platform) continue;
    known++;
    const stop = after.get(old.stop_id);
    if (!stop) continue;
    kept++;
    if (distanceMetres([old.lat, old.lng], [stop.lat, stop.lng]) > FAR_METRES) far++;
  }
  if (kept < LEAST_KEPT * known) return `Only ${kept} of the ${known} stops of the list in use are in it.`;
  if (far > MOST_FAR * kept) return `${far} of ${kept} stops lie more than ${FAR_METRES} metres from where they were.`;
  return null;
}

/** Modes and suburbs that the file does not tell are those of the list before. */
export function completeFrom(before: StopTable, stops: readonly StopRecord[]): StopRecord[] {
  return stops.map((stop) => {
    const old = before.get(stop.stop_id);
    const modes = stop.modes.length > 0 ? stop.modes : (old?.modes ?? []);
    return { ...stop, modes, suburb: stop.suburb || (old?.suburb ?? '') };
  });
}

/** Writes the list in one step: whoever reads meanwhile, or after a crash, has the one before or this one. */
export async function writeStopsFile(
  dataDir: string,
  stops: readonly StopRecord[],
  source: { dataDate: string; source: string },
): Promise<void> {
  const bytes = writeTable(stops, source);
  readTable(bytes);
  await mkdir(dataDir, { recursive: true });
  const draft = `${stopsFile(dataDir)}.${process.pid}`;
  try {
    const handle = await open(draft, 'w', 0o644);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, stopsFile(dataDir));
  } finally {
    await rm(draft, { force: true });
  }
}
