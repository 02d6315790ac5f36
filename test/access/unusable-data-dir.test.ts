import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runServerToExit } from '../support/process.ts';

const directory = mkdtempSync(join(tmpdir(), 'transit-unusable-'));
writeFileSync(join(directory, 'accounts.db'), 'not a database, but long enough to be taken for one'.repeat(100));
afterAll(() => rmSync(directory, { recursive: true }));

it.each([
  ['its DATA_DIR cannot be made', join(directory, 'accounts.db', 'data')],
  ['the account database is broken', directory],
])(
  'the service says so in one line and exits with 1 when %s',
  async (_name, dataDir) => {
    const { code, stderr } = await runServerToExit({ DATA_DIR: dataDir });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The account database [^\n]+ cannot be used: [^\n]+\. Check DATA_DIR\.\n$/);
  },
  30_000,
);
