import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openStore } from '#src/access/stores/open-store.ts';
import { issueTestKey } from './access.ts';
import { START_OPTIONS } from './start-options.ts';

/** A process that starts from the compile cache takes half the time. `npm test` sets its place. */
const { PATH, NODE_COMPILE_CACHE } = process.env;
const ENVIRONMENT = {
  PATH,
  ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
  HOST: '127.0.0.1',
  PORT: '0',
  // The import takes a second of processor time, and its downloads would reach the made-up upstream.
  TIMETABLE: 'off',
};

export interface ServerProcess {
  baseUrl: string;
  /** A key of a Pro account, issued before the start. */
  apiKey: string;
  /** As many keys of Free accounts as were requested. */
  freeKeys: string[];
  /** The log lines so far, parsed. */
  log: Record<string, unknown>[];
  process: ChildProcess;
  /** Resolves with the exit code, or null when a signal ended the process. */
  exited: Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts the service as `npm start` does, on a free loopback port, and waits until it listens. `controlGroup` is the file of a
 * memory control group to which process IDs are written.
 */
export async function startServerProcess(
  env: Record<string, string> = {},
  {
    maxDescriptors,
    controlGroup,
    freeKeys: freeCount = 0,
  }: { maxDescriptors?: number; controlGroup?: string; freeKeys?: number } = {},
): Promise<ServerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'transit-server-'));
  const store = openStore({ redis: null, dataDir, log: { info() {}, warn() {} } });
  await store.markKind(env.UPSTREAM_URL || env.UPSTREAM_API_KEY ? 'real' : 'sandbox');
  const apiKey = await issueTestKey(store, { plan: 'pro' });
  const freeKeys = await Promise.all(Array.from({ length: freeCount }, () => issueTestKey(store)));
  await store.close();
  const limit = maxDescriptors === undefined ? '' : `ulimit -n ${maxDescriptors}; `;
  const enter = controlGroup === undefined ? '' : `echo $$ > ${controlGroup}; `;
  // The script reads the limit of the group.
  const command =
    controlGroup === undefined ? [process.execPath, ...START_OPTIONS, 'src/server.ts'] : ['scripts/start'];
  const child = spawn('sh', ['-c', `${enter}${limit}exec "$0" "$@"`, ...command], {
    env: { ...ENVIRONMENT, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const log: Record<string, unknown>[] = [];
  const baseUrl = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      log.push(entry);
      const [address] = /http:\/\/127\.0\.0\.1:\d+$/.exec(String(entry.msg)) ?? [];
      if (address) resolve(address);
    });
    exited.then((code) => reject(new Error(`the server exited with ${code} before it listened`)));
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exited;
  };
  return { baseUrl, apiKey, freeKeys, log, process: child, exited, stop };
}

/** Runs the service until it exits by itself, for starts that must fail. */
export async function runServerToExit(env: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'transit-server-'));
  const child = spawn(process.execPath, [...START_OPTIONS, 'src/server.ts'], {
    env: { ...ENVIRONMENT, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}
