import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { cacheBytes, memoryLimit } from '#src/core/memory-limit.ts';
import { pipeThrough } from '#src/core/own-memory.ts';

const BYTES = Buffer.from(JSON.stringify(Array.from({ length: 100_000 }, (_, index) => index * 7919)));

describe('packed and unpacked bytes', () => {
  it('packed and unpacked bytes are unchanged and own their memory', async () => {
    const packed = await pipeThrough(createZstdCompress(), BYTES);
    expect(packed.length).toBeLessThan(BYTES.length);
    const unpacked = await pipeThrough(createZstdDecompress(), packed);
    expect(unpacked.equals(BYTES)).toBe(true);
    expect(unpacked.buffer.byteLength).toBe(BYTES.length);
    expect((await pipeThrough(createGunzip(), gzipSync(''))).length).toBe(0);
  });

  it('unpacked bytes may be as long as the limit, but not longer', async () => {
    const packed = gzipSync(BYTES);
    expect((await pipeThrough(createGunzip(), packed, BYTES.length)).length).toBe(BYTES.length);
    await expect(pipeThrough(createGunzip(), packed, BYTES.length - 1)).rejects.toThrow(RangeError);
  });

  it.each([
    ['cut off', gzipSync(BYTES).subarray(0, 1000)],
    ['something else', BYTES],
  ])('packed bytes are refused when %s', async (_name, packed) => {
    await expect(pipeThrough(createGunzip(), packed)).rejects.toThrow();
  });

  setFlagsFromString('--expose-gc');
  const collectGarbage: NodeJS.GCFunction = runInNewContext('gc');
  it('packed bytes are freed without a full garbage collection after encoding', async () => {
    const run = () => pipeThrough(createGzip(), Buffer.from(BYTES));
    await run();
    collectGarbage();
    await nextTurn();
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let times = 0; times < 10; times++) {
      await run();
      for (let minor = 0; minor < 3; minor++) {
        // The memory of dead buffers is freed in turns of the event loop.
        await nextTurn();
        collectGarbage({ type: 'minor' });
      }
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeLessThan(3 * BYTES.length);
  });
});

describe('bounded maps', () => {
  const TABLE = readFileSync('bench/README.md', 'utf8').split('### Bounded maps')[1] ?? '';

  it('the service has at most thirteen bounded maps, each listed with its file in bench/README.md', async () => {
    const found: string[][] = [];
    for await (const path of glob('{src,web}/**/*.ts')) {
      const source = readFileSync(path, 'utf8');
      for (const [, name = ''] of source.matchAll(/createBoundedMap(?:<[^(]*>)?\('([^']+)'/g)) found.push([name, path]);
      const isMaker = path === 'src/core/own-memory.ts';
      expect(`${path} ${!isMaker && source.includes('new LRUCache')}`).toBe(`${path} false`);
    }
    const listed = [...TABLE.matchAll(/^\| ([^|]+) \| \[[\w.-]+\]\(\.\.\/([^)]+)\)/gm)].map(([, name, path]) => [
      name,
      path,
    ]);
    expect(found.sort()).toEqual(listed.sort());
    expect(found.length).toBeLessThanOrEqual(13);
  });
});

it('a large cache takes a sixteenth of the memory limit, and 64 MiB at most', () => {
  expect([256, 512, 1024, 8192].map((limit) => cacheBytes(limit * 2 ** 20) / 2 ** 20)).toEqual([16, 32, 64, 64]);
  expect(memoryLimit()).toBeLessThanOrEqual(totalmem());
});
