import { pbkdf2 } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { UpstreamHttp } from '../../src/efa/upstream-http.ts';

it('a download that fails before its file is open does not bring back a file that was removed', async () => {
  const server = createServer((_request, response) => response.end(Buffer.alloc(2000)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'download-'));
  const file = join(folder, 'a.zip');
  const http = new UpstreamHttp({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: 1,
    connectTimeoutMs: 1000,
    headers: {},
    maxBytes: 1000,
    now: Date.now,
  });
  // Files are opened by the threads that also derive keys: while all of them do, opening one waits.
  const derived = Array.from({ length: 8 }, () => promisify(pbkdf2)('a', 'b', 300_000, 32, 'sha256'));
  await expect(http.download('/a', { apiKey: '', timeoutMs: 30_000 }, file)).rejects.toThrow();
  rmSync(file, { force: true });
  await Promise.all(derived);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(existsSync(file)).toBe(false);
  await http.close();
  server.close();
  rmSync(folder, { recursive: true });
});
