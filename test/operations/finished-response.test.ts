import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFinishedResponses, writeJson } from '#src/operations/finished-response.ts';

describe('writeJson', () => {
  it('writeJson writes the same text as JSON.stringify', async () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constant(undefined));
    const response = fc.dictionary(fc.string(), fc.oneof(fc.array(value), value), { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(response, async (written) => {
        expect((await writeJson(written)).toString()).toBe(JSON.stringify(written));
      }),
      { seed: 20260415, numRuns: 300 },
    );
  });

  it('writeJson yields to other work while it writes a large response', async () => {
    let turns = 0;
    let isWriting = true;
    const count = () => {
      turns++;
      if (isWriting) setImmediate(count);
    };
    setImmediate(count);
    await writeJson({ journeys: Array(4000).fill({ name: 'x'.repeat(1000) }) });
    isWriting = false;
    expect(turns).toBeGreaterThan(10);
  });
});

describe('createFinishedResponses', () => {
  const freshUntil = (at: number) => ({
    body: { stops: [] },
    freshness: { source: 'upstream' as const, retrievedAt: 0, freshUntil: at, staleUntil: at, shortage: null },
  });

  it('expired responses make room as new ones are cached', async () => {
    let now = 0;
    const responses = createFinishedResponses({ maxBytes: 1e6, now: () => now });
    for (let index = 0; index < 40; index++) await responses.store(`early ${index}`, freshUntil(15_000));
    expect(responses.size().entries).toBe(40);
    now = 15_000;
    for (let index = 0; index < 10; index++) await responses.store(`late ${index}`, freshUntil(30_000));
    expect(responses.size().entries).toBe(10);
    expect(responses.find('early 39')).toBeNull();
    expect(responses.find('late 0')?.key).toBe('late 0');
  });
});
