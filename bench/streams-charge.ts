import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServerProcess } from '#test/support/process.ts';
import { describeMachine, print } from './machine.ts';

/*
 * Processor time of the sandbox, with timetable and feeds, for each minute of a stream, which is one charge: ten streams of one
 * board, and of ten boards. The time without streams, most of it for feeds, is taken off; it is measured before and after.
 * `node bench/streams-charge.ts [seconds]`
 */
const [seconds = '60'] = process.argv.slice(2);
const MS_PER_TICK = 10;
const STOPS = [200060, 200070, 200080, 200020, 200040, 202210, 206010, 207220, 209573, 215020].map(String);

print(describeMachine());
const server = await startServerProcess({ TIMETABLE: 'on' });
while (!server.log.some(({ msg }) => msg === 'timetable in use')) await sleep(500);
// Feeds are polled once somebody needs them, and threads start with the first feeds.
await measure(STOPS.map((stop) => `stop=${stop}`));

const idleBefore = await measure([]);
const cases = {
  'ten streams of one board': STOPS.map(() => `stop=${STOPS[0]}`),
  'of ten boards': STOPS.map((stop) => `stop=${stop}`),
  'of ten boards with 50 departures of all modes': STOPS.map((stop) => `stop=${stop}&modes=all&limit=50`),
};
const measured: [name: string, Awaited<ReturnType<typeof measure>>][] = [];
for (const [name, queries] of Object.entries(cases)) measured.push([name, await measure(queries)]);
const idleAfter = await measure([]);
const idle = (idleBefore.cpuMs + idleAfter.cpuMs) / 2;
print(`without streams: ${idleBefore.cpuMs.toFixed(0)} and ${idleAfter.cpuMs.toFixed(0)} ms a minute\n`);
print(`${'ms of processor time a stream and minute'.padEnd(53)}  events`);
for (const [name, { cpuMs, events, streams }] of measured)
  print(
    `${name.padEnd(45)}${((cpuMs - idle) / streams).toFixed(1).padStart(8)}${(events / streams).toFixed(1).padStart(8)}`,
  );
await server.stop();

/** Holds these streams open and returns what a minute of them all takes. */
async function measure(queries: readonly string[]) {
  const end = new AbortController();
  let events = 0;
  const streams = await Promise.all(queries.map((query) => open(query, end.signal, () => events++)));
  const count = streams.filter(Boolean).length;
  // The start of a stream has its own charge.
  await sleep(2000);
  const [before, eventsBefore] = [readCpuMs(), events];
  await sleep(Number(seconds) * 1000);
  const aMinute = 60 / Number(seconds);
  const result = { cpuMs: (readCpuMs() - before) * aMinute, events: (events - eventsBefore) * aMinute, streams: count };
  end.abort();
  return result;
}

/** Resolves to false if the sandbox does not know the stop. */
async function open(query: string, signal: AbortSignal, onEvent: () => void): Promise<boolean> {
  const headers = { authorization: `Bearer ${server.apiKey}` };
  const response = await fetch(`${server.baseUrl}/v1/departures/stream?${query}`, { headers, signal });
  if (response.status !== 200) return false;
  const read = async () => {
    for await (const chunk of response.body ?? []) if (Buffer.from(chunk).includes('event: board')) onEvent();
  };
  read().catch(() => {});
  return true;
}

/** The processor time of the server with all its threads. */
function readCpuMs(): number {
  const [, fields = ''] = readFileSync(`/proc/${server.process.pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * MS_PER_TICK;
}
