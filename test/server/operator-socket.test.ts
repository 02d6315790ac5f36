import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NoResponse, openOperatorSocket, operatorFolder, queryService } from '#src/server/operator-socket.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';

let dataDir: string;
let folder: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'operator-'));
  folder = operatorFolder({ dataDir, isSandbox: false });
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const answers = { '/ask': async (query: URLSearchParams) => ({ stop: query.get('stop') }) };
const open = (given: Parameters<typeof openOperatorSocket>[1] = answers) =>
  openOperatorSocket(folder, given, createTestLog());

it('a command is answered by a service that runs, and by the other one after the first has ended', async () => {
  const [one, other] = [await open(), await open()];
  expect(readdirSync(folder)).toHaveLength(2);
  expect(await queryService(folder, '/ask?stop=1')).toEqual({ stop: '1' });
  await one.close();
  expect(await queryService(folder, '/ask?stop=2')).toEqual({ stop: '2' });
  await other.close();
  expect(await queryService(folder, '/ask')).toBeNull();
  expect(readdirSync(folder)).toEqual([]);
});

it('only the owner can query a service, and the sandbox has its own sockets', async () => {
  const service = await open();
  const [name = ''] = readdirSync(folder);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(await queryService(operatorFolder({ dataDir, isSandbox: true }), '/ask')).toBeNull();
  await service.close();
});

it('the socket of a killed process is skipped by commands, and removed by the next start', async () => {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'killed.sock');
  const killed = createServer();
  await new Promise<void>((resolve) => killed.listen(path, resolve));
  // Closing removes its file, so another name remains, as after a kill.
  linkSync(path, join(folder, 'left.sock'));
  await new Promise((resolve) => killed.close(resolve));
  expect(existsSync(join(folder, 'left.sock'))).toBe(true);
  expect(await queryService(folder, '/ask')).toBeNull();
  const service = await open();
  expect(existsSync(join(folder, 'left.sock'))).toBe(false);
  await service.close();
});

it('a query that fails, or that the service does not know, is an error with the reason', async () => {
  const service = await open({ '/ask': () => Promise.reject(new Error('the disk is gone')) });
  await expect(queryService(folder, '/ask')).rejects.toThrow(
    new NoResponse('The request to the running service failed: the disk is gone.'),
  );
  await expect(queryService(folder, '/new')).rejects.toThrow('its version does not know /new');
  await service.close();
});

it('a service starts without a socket if its path is too long', async () => {
  folder = join(dataDir, 'x'.repeat(120));
  const service = await open();
  expect(await queryService(folder, '/ask')).toBeNull();
  await service.close();
});
