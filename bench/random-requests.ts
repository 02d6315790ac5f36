import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type RandomRequest, randomRequests, toBytes } from '#test/contract/random-request.ts';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { describeMachine, hold, print } from './machine.ts';

/*
 * Random requests without a key, one after another: their statuses, and the longest time that one of them blocks the event loop.
 * The server measures the processor time of its main thread between two requests, because other load on the machine can delay the
 * event loop too.
 * `node bench/random-requests.ts [requests] [seed]`
 */
const [requests = '100000', seed = '1'] = process.argv.slice(2);
const BATCH = 1000;
const MAX_BLOCK_MS = 50;

interface Block {
  cpuMs: number;
  delayMs: number;
  request: RandomRequest;
}

print(describeMachine());
const server = fork(new URL('./random-requests/server.ts', import.meta.url), [], { execArgv: START_OPTIONS });
const [{ port }] = await once(server, 'message');
const statuses: Record<string, number> = {};
const blocks: Block[] = [];
let socket: Socket | undefined;

// Warm-up: compiling code and reading files for the first time are no cost of a request.
for (const request of randomRequests(BATCH, Number(seed) - 1)) await send(request);
await measure();
for (let sent = 0; sent < Number(requests); sent += BATCH) {
  const batch = randomRequests(Math.min(BATCH, Number(requests) - sent), Number(seed) + sent);
  let { cpuMs: before } = await measure();
  for (const request of batch) {
    const status = await send(request);
    statuses[status] = (statuses[status] ?? 0) + 1;
    const { cpuMs, delayMs } = await measure();
    blocks.push({ cpuMs: cpuMs - before, delayMs, request });
    before = cpuMs;
  }
  blocks.sort((one, other) => other.cpuMs - one.cpuMs).splice(5);
}
server.disconnect();
(socket as Socket | undefined)?.destroy();

print(`\n${requests} requests, responses by status: ${JSON.stringify(statuses)}`);
print('\nthe longest blocks: processor time and delay of the event loop, in milliseconds');
for (const { cpuMs, delayMs, request } of blocks) {
  const { method, url, body } = request;
  print(
    `${cpuMs.toFixed(1).padStart(7)} ${delayMs.toFixed(1).padStart(7)}  ${method} ${url.slice(0, 80)}, body ${body?.length ?? 0}`,
  );
}
hold(
  'every response is a page or a 4xx',
  Object.keys(statuses).every((status) => /^[234]\d\d$/.test(status)),
);
hold(`no request blocks for ${MAX_BLOCK_MS} ms`, (blocks[0]?.cpuMs ?? 0) < MAX_BLOCK_MS);

async function measure(): Promise<{ cpuMs: number; delayMs: number }> {
  server.send('measure');
  const [figures] = await once(server, 'message');
  return figures;
}

/** The status of the response, or how the connection ended. */
async function send(request: RandomRequest): Promise<string> {
  if (!socket?.writable) socket = await open();
  const ours = socket;
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = '';
  const onData = (chunk: Buffer) => {
    text += chunk.toString('latin1');
    if (isWhole(text, request.method)) resolve(text.slice(9, 12));
  };
  const onClose = () => resolve(text.slice(9, 12) || 'closed');
  ours.on('data', onData).once('close', onClose);
  ours.write(toBytes(request));
  const status = await promise;
  ours.off('data', onData).off('close', onClose);
  if (/\r\nconnection: close\r\n/i.test(text)) ours.destroy();
  return status;
}

async function open(): Promise<Socket> {
  const opened = connect(port, '127.0.0.1');
  opened.on('error', () => {});
  await once(opened, 'connect');
  return opened;
}

function isWhole(text: string, method: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const head = text.slice(0, end);
  if (method === 'HEAD' || / (?:204|304) /.test(head.slice(0, 16))) return true;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= end + 4 + Number(length);
}
