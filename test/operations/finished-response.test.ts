import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeJson } from '#src/operations/finished-response.ts';

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
