import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureProgram } from '#test/support/debian.ts';

const run = promisify(execFile);

/**
 * Sends the request, or several in turn, on each connection, one at a time, and returns the number of responses. The client is
 * wrk: it uses so little processor time that it idles beside every server, so each server pays for waking it.
 */
export async function load(options: {
  port: number;
  connections: number;
  seconds: number;
  request: string | readonly string[];
  /** The expected status of every response, by default 200. */
  status?: number;
}): Promise<number> {
  ensureProgram('wrk', 'wrk');
  const { port, connections, seconds, request, status = 200 } = options;
  const requests = [request].flat();
  const first = await statusOf(port, requests[0] ?? '');
  if (first !== status) throw new Error(`unexpected status: ${first}`);
  const directory = mkdtempSync(join(tmpdir(), 'transit-bench-wrk-'));
  try {
    const script = join(directory, 'requests.lua');
    writeFileSync(script, scriptOf(requests));
    const settings = ['--threads', '1', '--connections', `${connections}`, '--duration', `${seconds}s`];
    const { stdout } = await run('wrk', [...settings, '--script', script, `http://127.0.0.1:${port}`]);
    const [, responses = 0, refusals = 0, broken = 0] = (
      /responses (\d+) refusals (\d+) broken (\d+)/.exec(stdout) ?? []
    ).map(Number);
    const expectedRefusals = status < 400 ? 0 : responses;
    if (responses === 0 || broken > 0 || refusals !== expectedRefusals)
      throw new Error(`unexpected responses: ${stdout}`);
    return responses;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function statusOf(port: number, request: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  const [head] = await once(socket, 'data');
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]);
}

/** `errors.status` counts responses with status 400 and above. */
function scriptOf(requests: readonly string[]): string {
  return `
local requests = {${requests.map((request) => JSON.stringify(request)).join(',')}}
local sent = 0
function request()
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end
function done(summary)
  local errors = summary.errors
  print(string.format('responses %d refusals %d broken %d', summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end`;
}
