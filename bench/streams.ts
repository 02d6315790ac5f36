import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { describeMachine, print } from './machine.ts';

/*
 * Measures what open streams cost: memory and processor time of the server, upstream calls, and the number of boards received.
 * Each side needs as many open files as there are streams (`ulimit -n`).
 * `node bench/streams.ts [streams] [stops] [seconds]`
 */
const [streams = '10000', stops = '500', seconds = '120'] = process.argv.slice(2);
const OPENED_AT_ONCE = 100;
const MEGABYTE = 1024 * 1024;

interface State {
  cpuMs: number;
  rssBytes: number;
  requests: number;
}

print(describeMachine());
const server = fork(new URL('./streams/server.ts', import.meta.url), [streams], { execArgv: START_OPTIONS });
const [{ port, keys }] = (await once(server, 'message')) as [{ port: number; keys: string[] }];
const before = await stateOf(server);
const sockets: Socket[] = [];
let boards = 0;
let broken = 0;

for (let opened = 0; opened < Number(streams); opened += OPENED_AT_ONCE) {
  const count = Math.min(OPENED_AT_ONCE, Number(streams) - opened);
  await Promise.all(Array.from({ length: count }, (_, index) => open(opened + index)));
}
const opened = await stateOf(server);
const boardsAtOpening = boards;
print(`streams: ${sockets.length} on ${stops} stops, open for ${seconds} s, ${broken} interrupted`);
print(`memory of the server: ${megabytes(before)} MB before, ${megabytes(opened)} MB with all open`);
await sleep(Number(seconds) * 1000);
const after = await stateOf(server);
print(`memory at the end: ${megabytes(after)} MB, ${broken} interrupted`);
print(`processor: ${((after.cpuMs - opened.cpuMs) / (Number(seconds) * 10)).toFixed(1)} % of a core`);
print(`boards received: ${boards - boardsAtOpening}, upstream requests: ${after.requests - opened.requests}`);
for (const socket of sockets) socket.destroy();
server.disconnect();

/** Resolves with the first board. */
function open(index: number): Promise<void> {
  const key = keys[index % keys.length];
  const path = `/v1/departures/stream?stop=${200_000 + (index % Number(stops))}`;
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`),
  );
  socket.on('data', (chunk: Buffer) => {
    if (!chunk.includes('event: board')) return;
    boards += 1;
    resolve();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    broken += 1;
    resolve();
  });
  sockets.push(socket);
  return promise;
}

async function stateOf(child: ChildProcess): Promise<State> {
  child.send('state');
  const [state] = (await once(child, 'message')) as [State];
  return state;
}

function megabytes({ rssBytes }: State): string {
  return (rssBytes / MEGABYTE).toFixed(0);
}
