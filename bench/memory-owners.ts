import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLabels } from '#src/journeys/raptor/labels.ts';
import { openTimetable } from '#src/timetable/update/folder.ts';
import { print } from './machine.ts';

/*
 * Lists what holds the anonymous memory of a running service. It opens the service's inspector with SIGUSR1, and reads each
 * isolate through it. DIR is the service's `DATA_DIR`, URL its metrics: `npx node bench/memory-owners.ts PID DIR URL`
 */
const [pid = '', dataDir = '.', metricsUrl = ''] = process.argv.slice(2);
const INSPECTOR = 'http://127.0.0.1:9229/json';
const MEGABYTE = 1e6;

interface Usage {
  /** Bytecode and machine code, which are in the heap. */
  code: number;
  heapTotal: number;
  heapUsed: number;
  external: number;
  arrayBuffers: number;
}

const anonymous = readAnonymous(pid);
const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
const caches = await readCaches();
process.kill(Number(pid), 'SIGUSR1');
const isolates = await readIsolates();
const timetable = await measureTimetable();

const rows: [owner: string, bytes: number][] = [['timetable', timetable.bytes]];
for (const [name, { code, heapUsed, arrayBuffers, external }] of isolates) {
  const isMain = name === 'main thread';
  const isSearch = name.includes('engine-thread');
  const ofCaches = isMain ? [...caches.values()].reduce((sum, bytes) => sum + bytes, 0) : 0;
  const labels = isSearch ? timetable.labels : 0;
  // Shared memory counts in the thread that has allocated it.
  const ofTimetable = isMain ? timetable.bytes : 0;
  rows.push([`${name}: compiled code`, code], [`${name}: other heap in use`, heapUsed - code]);
  if (isMain) rows.push(...caches);
  if (isSearch) rows.push([`${name}: labels`, labels]);
  rows.push([`${name}: other buffers`, Math.max(0, arrayBuffers - ofCaches - labels - ofTimetable)]);
  rows.push([`${name}: other external memory of V8, source code included`, Math.max(0, external - arrayBuffers)]);
}
const free = isolates.reduce((sum, [, { heapTotal, heapUsed }]) => sum + heapTotal - heapUsed, 0);
rows.push(["V8's free pages, all threads", free]);
const known = rows.reduce((sum, [, bytes]) => sum + bytes, 0);
rows.push(['stacks and free memory of malloc (the rest)', anonymous - known]);
for (const child of children) rows.push([`child process ${child}`, readAnonymous(child)]);

for (const [owner, bytes] of rows) {
  if (Math.abs(bytes) >= MEGABYTE / 10) print(`${(bytes / MEGABYTE).toFixed(1).padStart(8)} MB  ${owner}`);
}
print(`${(anonymous / MEGABYTE).toFixed(1).padStart(8)} MB  anonymous memory of the service`);
process.exit(0);

function readAnonymous(of: string): number {
  return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${of}/status`, 'utf8'))?.[1]);
}

/** The bytes of the caches that are buffers. */
async function readCaches(): Promise<Map<string, number>> {
  const metrics = await fetch(metricsUrl).then((response) => response.text());
  const found = metrics.matchAll(/^transit_cache_size\{cache="([^"]{1,60})",unit="bytes"\} (\d{1,12})/gm);
  return new Map([...found].map(([, name = '', bytes]) => [`cache: ${name}`, Number(bytes)]));
}

/** The labels are made again here, because nobody can see them from outside. */
async function measureTimetable() {
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  const newest = names
    .filter((one) => /timetable-\d{1,12}\.bin$/.test(one))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const file = join(dataDir, newest.at(-1) ?? '');
  const timetable = await openTimetable(file);
  const labels = Object.values(createLabels(timetable.stopCount)).reduce<number>(
    (sum, one) => sum + (ArrayBuffer.isView(one) ? one.byteLength : 0),
    0,
  );
  return {
    bytes: statSync(file).size,
    labels: 2 * labels,
  };
}

/** Runs in each isolate. */
function describeUsage(): string {
  const statistics = process.getBuiltinModule('v8').getHeapCodeStatistics();
  const code = statistics.code_and_metadata_size + statistics.bytecode_and_metadata_size;
  return JSON.stringify({ ...process.memoryUsage(), code });
}

async function readIsolates(): Promise<[name: string, Usage][]> {
  const targets = await poll(
    async () => (await fetch(INSPECTOR)).json() as Promise<{ webSocketDebuggerUrl: string }[]>,
  );
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  const evaluate = {
    id: 1,
    method: 'Runtime.evaluate',
    params: { expression: `(${describeUsage})()` },
  };
  const names = new Map<string, string>();
  const found: [string, Usage][] = [];
  const take = (name: string, text: string | undefined) => text && found.push([name, JSON.parse(text)]);
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data));
    if (message.id === 1) take('main thread', message.result?.result?.value);
    if (message.method === 'NodeWorker.attachedToWorker') {
      const { sessionId, workerInfo } = message.params;
      names.set(sessionId, `thread ${workerInfo.workerId} (${String(workerInfo.url).split('/').at(-1)})`);
      const inner = JSON.stringify(evaluate);
      socket.send(
        JSON.stringify({ id: 3, method: 'NodeWorker.sendMessageToWorker', params: { sessionId, message: inner } }),
      );
    }
    if (message.method === 'NodeWorker.receivedMessageFromWorker') {
      const { sessionId, message: inner } = message.params;
      take(names.get(sessionId) ?? sessionId, JSON.parse(inner).result?.result?.value);
    }
  });
  socket.send(JSON.stringify(evaluate));
  socket.send(JSON.stringify({ id: 2, method: 'NodeWorker.enable', params: { waitForDebuggerOnStart: false } }));
  // A thread answers once its search has ended.
  for (let waited = 0; waited < 20 && found.length < names.size + 1; waited++) await sleep(500);
  await sleep(1000);
  return found.sort(([one], [other]) => (one < other ? -1 : 1));
}

async function poll<Value>(read: () => Promise<Value>): Promise<Value> {
  for (let tries = 0; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(500);
    }
  }
}
