import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { HOUR_MS, MINUTE_MS } from '#src/core/clock.ts';
import type { EngineReply, ThreadMessage } from '#src/journeys/engine-messages.ts';
import { serviceDayStart } from '#src/timetable/service-day.ts';
import { openPairs } from './journeys/pairs.ts';
import { describeMachine, print } from './machine.ts';
import { median } from './percentiles.ts';

/*
 * A search thread from its start to its first answer: it loads its modules, opens the timetable and the lines of a day, and plans
 * three journeys. Also one that has searched another timetable before, as below 768 MiB. Two checkouts take turns.
 *
 * `node $(the flags of npm start) bench/thread-start.ts FILE [BASELINE FILE_OF_BASELINE]`: timetables as the import of each
 * checkout writes them from the same zips, and the folder of the other checkout with its packages.
 */
const [file = '', baseline = '', baselineFile = ''] = process.argv.slice(2);
const ROUNDS = 11;
/** A thread compiles its code in these. */
const SEARCHES_BEFORE = 40;

const { timetable, weekday, nextPair } = openPairs(file, 1);
const now = serviceDayStart(weekday) + 8 * HOUR_MS;
const { from, to } = nextPair();
const ours = { root: new URL('..', import.meta.url), packed: readShared(file), isFirst: true, isNew: true };
const checkouts = [
  { ...ours, name: 'this checkout, first thread' },
  { ...ours, name: 'its other threads', isFirst: false },
  { ...ours, name: 'one that had another timetable', isNew: false },
  ...(baseline
    ? [{ ...ours, name: 'baseline', root: pathToFileURL(`${baseline}/`), packed: readShared(baselineFile) }]
    : []),
].map((checkout) => ({ ...checkout, cpuMs: [] as number[], ms: [] as number[] }));
type DayOfLines = Exclude<ThreadMessage, string | EngineReply>;
/** The lines of this checkout's first thread. */
let shared: DayOfLines | null = null;

const end = (id: string) => ({ stops: [{ stop: timetable.findStop(id) as number, seconds: 0 }], withAround: true });
const query = {
  from: end(from),
  to: end(to),
  at: now,
  now,
  isArrival: false,
  walkSeconds: null,
  modes: 0xff,
  isWheelchair: false,
  maxRides: 5,
  limit: 3,
  avoidedStops: [],
};

print(describeMachine());
for (let round = -1; round < ROUNDS; round++) {
  for (const { root, packed, isFirst, isNew, cpuMs, ms } of checkouts) {
    const used = isNew ? null : start(root);
    for (let search = 0; used && search < SEARCHES_BEFORE; search++)
      await ask(used, search === 0 ? packed : null, null);
    const [cpu, at] = [process.cpuUsage(), performance.now()];
    const worker = used ?? start(root);
    const made = await ask(worker, packed, isFirst ? null : shared);
    const { user, system } = process.cpuUsage(cpu);
    const passedMs = performance.now() - at;
    await worker.terminate();
    shared = made ?? shared;
    // The first round fills the page cache.
    if (round < 0) continue;
    cpuMs.push((user + system) / 1000);
    ms.push(passedMs);
  }
}
print(`median of ${ROUNDS}, ms                  processor time    by the clock`);
for (const { name, cpuMs, ms } of checkouts) {
  print(`${name.padEnd(36)}${median(cpuMs).toFixed(0).padStart(10)}${median(ms).toFixed(0).padStart(16)}`);
}
const theirs = checkouts[3];
for (const { name, cpuMs, ms } of theirs ? checkouts.slice(0, 3) : []) {
  const [cpu, clock] = [median(cpuMs) / median(theirs?.cpuMs ?? []), median(ms) / median(theirs?.ms ?? [])];
  print(`${`ratio, ${name}`.padEnd(36)}${cpu.toFixed(2).padStart(10)}${clock.toFixed(2).padStart(16)}`);
}

function start(root: URL): Worker {
  return new Worker(new URL('src/journeys/engine-thread.ts', root), { workerData: { isLast: true } });
}

/** Resolves when the thread has answered, with the lines that it has made for others. `lines` are those of another thread. */
async function ask(worker: Worker, packed: SharedArrayBuffer | null, lines: DayOfLines | null) {
  let made: DayOfLines | null = null;
  const answered = new Promise<EngineReply>((resolve, reject) => {
    worker.on('message', (message: ThreadMessage) => {
      if (typeof message === 'string') return;
      if ('id' in message) resolve(message);
      else made = message;
    });
    worker.on('error', reject);
  });
  if (packed) worker.postMessage({ kind: 'timetable', packed });
  if (lines) worker.postMessage({ kind: 'lines', ...lines });
  worker.postMessage({ kind: 'search', id: 1, name: 'plan', query, deadlineAt: Date.now() + MINUTE_MS });
  const reply = await answered;
  if (!('found' in reply)) throw new Error(reply.problem);
  worker.removeAllListeners('message').removeAllListeners('error');
  return made;
}

function readShared(path: string): SharedArrayBuffer {
  const bytes = readFileSync(path);
  const packed = new SharedArrayBuffer(bytes.length);
  new Uint8Array(packed).set(bytes);
  return packed;
}
